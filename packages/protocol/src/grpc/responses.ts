/** What came of a call, in the shapes of unary responses. Failures of a whole call are `mapping.ts`'s. */
import { unreachable } from '../assert.ts';
import { ERRORS, isOutcomeKnown } from '../errors.ts';
import type { ListingResult } from '../listing.ts';
import type { OpFailure, OpResult, PartResult, ReadPartResult } from '../op.ts';
import type { Stat } from '../stat.ts';
import { ZERO_ZXID, type Zxid } from '../zxid.ts';
import type {
  WireData,
  WireErrorDetail,
  WireMultiPartResult,
  WireMultiReadPartResult,
  WireStat,
  WireZnodeResponse,
} from './wire-types.ts';

const NO_TOKEN = new Uint8Array(0);

export function toWireStat(stat: Stat): WireStat {
  return { ...stat, ctimeMs: BigInt(stat.ctimeMs), mtimeMs: BigInt(stat.mtimeMs) };
}

function toPage({ kind, entries, top, at, next }: ListingResult, zxid: Zxid): WireZnodeResponse {
  const znodes = entries.map(({ name, stat, data }) => {
    const listed = { name, stat: stat === undefined ? null : toWireStat(stat) };
    return data === undefined ? listed : { ...listed, data };
  });
  return {
    ...(kind === 'listChildren' ? { children: znodes } : { znodes }),
    stat: top === undefined ? null : toWireStat(top),
    listingZxid: at,
    nextPageToken: next ?? NO_TOKEN,
    zxid,
  };
}

function toPartResult(result: PartResult): WireMultiPartResult {
  switch (result.kind) {
    case 'create':
      return { create: { path: result.path, stat: toWireStat(result.stat), zxid: ZERO_ZXID } };
    case 'setData':
      return { setData: { stat: toWireStat(result.stat), zxid: ZERO_ZXID } };
    case 'delete':
      return { delete: { zxid: ZERO_ZXID } };
    case 'check':
      return { check: {} };
    case 'exists':
      return { exists: { stat: result.stat === undefined ? null : toWireStat(result.stat), zxid: ZERO_ZXID } };
    case 'getData':
      return { getData: toWireData(result) };
    default:
      return unreachable(result);
  }
}

function toWireData({ data, stat }: Extract<PartResult, { kind: 'getData' }>): WireData {
  return { ...(data && { data }), stat: toWireStat(stat), zxid: ZERO_ZXID };
}

function toReadPartResult(result: ReadPartResult): WireMultiReadPartResult {
  switch (result.kind) {
    case 'exists':
      return { exists: { stat: toWireStat(result.stat), zxid: ZERO_ZXID } };
    case 'getData':
      return { getData: toWireData(result) };
    case 'getChildren':
      return { getChildren: { children: result.children, stat: toWireStat(result.stat), zxid: ZERO_ZXID } };
    case 'error':
      return { error: toWireError(result) };
    default:
      return unreachable(result);
  }
}

function toWireError({ code, path, message }: OpFailure): WireErrorDetail {
  const outcome = isOutcomeKnown(code) ? 'OUTCOME_NOT_APPLIED' : 'OUTCOME_UNKNOWN';
  const detail = {
    code: `ERROR_CODE_${code}`,
    zookeeperCode: ERRORS[code].zookeeper,
    message,
    outcome,
    zxid: ZERO_ZXID,
  };
  return path === undefined ? detail : { ...detail, path };
}

/** The response to a call that was carried out, at `zxid`. */
export function toResponse(result: OpResult, zxid: Zxid): WireZnodeResponse {
  switch (result.kind) {
    case 'create':
      return { path: result.path, stat: toWireStat(result.stat), zxid };
    case 'deleteSubtree':
      return { deleted: result.deleted, more: result.more, zxid };
    case 'createOrSet':
      return { created: result.created, stat: toWireStat(result.stat), zxid };
    case 'exists':
    case 'setAcl':
    case 'setData':
      return { stat: toWireStat(result.stat), zxid };
    case 'getAcl':
      return { acl: result.acl, stat: toWireStat(result.stat), zxid };
    case 'getData': {
      const stat = toWireStat(result.stat);
      return result.data === undefined ? { stat, zxid } : { data: result.data, stat, zxid };
    }
    case 'getChildren':
      return { children: result.children, stat: toWireStat(result.stat), zxid };
    case 'getEphemerals':
      return { paths: result.paths, zxid };
    case 'listChildren':
    case 'getSubtree':
      return toPage(result, zxid);
    case 'getAllChildrenNumber':
      return { total: result.total, zxid };
    case 'multi':
      return { results: result.results.map(toPartResult), zxid };
    case 'multiRead':
      return { results: result.results.map(toReadPartResult), zxid };
    case 'sync':
      return { path: result.path, zxid };
    case 'delete':
    case 'closeSession':
    case 'addWatch':
    case 'checkWatches':
    case 'removeWatches':
    case 'setWatches':
      return { zxid };
    default:
      return unreachable(result);
  }
}
