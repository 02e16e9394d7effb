/** Where in the tree the simulated clients do what they do. */

/** The parent of everything. */
export const ROOT = '/w';
/** The parent of sequential znodes. */
export const QUEUE = '/w/q';
/** Two znodes that multis create, set and delete together. */
export const TWINS = ['/w/t0', '/w/t1'] as const;
export const CONTAINERS = ['/w/k0', '/w/k1', '/w/k2'] as const;
/** Znodes with a short TTL. */
export const BRIEF = ['/w/l0', '/w/l1', '/w/l2'] as const;
/** Znodes with access control lists. */
export const SECURED = ['/w/s0', '/w/s1'] as const;
/** The top of a subtree with a quota. */
export const BOUNDED = '/w/b';
