/** Numbers of ZooKeeper's wire. Source: ZooKeeper `ZooDefs.OpCode`, `Watcher.Event`, reference §1.6, §3.1 and §8.1. */

export const OP_CODE = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getAcl: 6,
  setAcl: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  reconfig: 16,
  checkWatches: 17,
  removeWatches: 18,
  createContainer: 19,
  createTtl: 21,
  multiRead: 22,
  auth: 100,
  setWatches: 101,
  sasl: 102,
  getEphemerals: 103,
  getAllChildrenNumber: 104,
  setWatches2: 105,
  addWatch: 106,
  whoAmI: 107,
  closeSession: -11,
  /** Stands for a failed part in the reply to a multi. */
  error: -1,
} as const;

/** xids that are no request's own. */
export const XID = { notification: -1, ping: -2 } as const;

/** The number in a create's flags. */
export const CREATE_FLAGS = {
  persistent: 0,
  ephemeral: 1,
  persistentSequential: 2,
  ephemeralSequential: 3,
  container: 4,
  ttl: 5,
  sequentialTtl: 6,
} as const;

/** Codes that have no place in the table of errors, for only this wire has them. */
export const WIRE_ERROR = {
  ok: 0,
  runtimeInconsistency: -2,
  marshalling: -5,
  unimplemented: -6,
  badArguments: -8,
  authFailed: -115,
  notReadOnly: -119,
  reconfigDisabled: -123,
} as const;
