/**
 * The web console. Nothing is built of it yet: the package holds the room, so that `server` need not move when it comes.
 * Imports nothing of ours: it is made of static files that talk to the admin port.
 */
export {};
