/** Planted faults in the rules of the data model: multis, guards, access control lists, and what the ensemble deletes by itself. */
import { decodeTxn, type PeerAction, type PeerEvent } from '@quorate/core';
import { type Identity, isReadKind, type Op } from '@quorate/protocol';
import type { Plant, PlantedFault, PlantSite } from './plant.ts';

type Call = Extract<PeerEvent, { kind: 'call' }>['call'];

/** Every call as `change` makes it. */
function changing(change: (call: Call) => Call): Plant {
  return { event: (event) => (event.kind === 'call' ? [{ ...event, call: change(event.call) }] : [event]) };
}

/** Of a multi only the first half is carried out. */
export const multiHalved: PlantedFault = {
  name: 'multi-halved',
  breaks: 'all parts of a multi take effect, or none does',
  plant: () =>
    changing((call) => {
      const { op } = call;
      return op.kind === 'multi' ? { ...call, op: { ...op, parts: op.parts.slice(0, op.parts.length / 2) } } : call;
    }),
};

/** Nobody looks whether the znode of a guard is there still. */
export const guardIgnored: PlantedFault = {
  name: 'guard-ignored',
  breaks: 'a guarded write is done only while the znode of its guard is there',
  plant: () => changing((call) => ({ ...call, guards: undefined })),
};

const SUPER: readonly Identity[] = [{ scheme: 'super', id: '' }];

function trusting(isTrusted: (op: Op) => boolean): Plant {
  return changing((call) => (isTrusted(call.op) ? { ...call, identities: SUPER } : call));
}

/** Reads are not held against the access control list. */
export const readUnguarded: PlantedFault = {
  name: 'read-unguarded',
  breaks: 'a znode is shown to those who may read it',
  plant: () => trusting(({ kind }) => isReadKind(kind)),
};

/** The parts of a multi are not held against access control lists. */
export const partUnguarded: PlantedFault = {
  name: 'part-unguarded',
  breaks: 'each part of a multi is held against the access control list of what it touches',
  plant: () => trusting(({ kind }) => kind === 'multi'),
};

/** Whoever sets an ACL is not asked whether he may. */
export const adminIgnored: PlantedFault = {
  name: 'admin-ignored',
  breaks: 'an access control list is changed by those who have ADMIN',
  plant: () => trusting(({ kind }) => kind === 'setAcl'),
};

/**
 * The leader deletes another znode than the one whose time is over, when it has seen one made: the last digit of the path is another,
 * in the one copy of the txn that log, peers and tree are given.
 */
function astray(prefix: string): Plant {
  const alive = new Set<string>();
  return {
    action: (action: PeerAction, site: PlantSite) => {
      if (action.kind !== 'persist' || action.command.kind !== 'append') return [action];
      for (const { payload } of action.command.records) {
        const { origin, body } = decodeTxn(payload);
        if (body.kind !== 'create' && body.kind !== 'delete') continue;
        if (body.path.length !== prefix.length + 1 || !body.path.startsWith(prefix)) continue;
        if (body.kind === 'create') alive.add(body.path);
        else alive.delete(body.path);
        // A follower gets it as it is by now.
        if (body.kind === 'create' || origin.sid !== 0 || site.status().role !== 'leading') continue;
        const [other] = alive;
        // The path is the last thing in a delete.
        if (other !== undefined) payload[payload.length - 1] = other.charCodeAt(prefix.length);
      }
      return [action];
    },
  };
}

/** A container goes that has children, or has not had any. */
export const containerAstray: PlantedFault = {
  name: 'container-astray',
  breaks: 'a container goes by itself when its last child has gone',
  plant: () => astray('/w/k'),
};

/** A znode with a TTL goes whose data was set a moment ago. */
export const ttlAstray: PlantedFault = {
  name: 'ttl-astray',
  breaks: 'a znode with a TTL goes by itself when its data is older than that',
  plant: () => astray('/w/l'),
};

/** A page leaves its first entry out, now and then. */
export const pageShort: PlantedFault = {
  name: 'page-short',
  breaks: 'the pages of a listing show every znode once',
  plant: () => ({
    action: (action, site) => {
      if (action.kind !== 'answer' || !site.random.chance(0.2)) return [action];
      const { result } = action.answer;
      if (result.kind !== 'listChildren' && result.kind !== 'getSubtree') return [action];
      return [{ ...action, answer: { ...action.answer, result: { ...result, entries: result.entries.slice(1) } } }];
    },
  }),
};

/** A step of the end of a subtree takes all that is there. */
export const stepUnbounded: PlantedFault = {
  name: 'step-unbounded',
  breaks: 'a step of the end of a subtree deletes no more than was asked for',
  plant: () =>
    changing((call) => {
      const { op } = call;
      return op.kind === 'deleteSubtree' ? { ...call, op: { kind: op.kind, path: op.path } } : call;
    }),
};
