import { describe, expect, it } from 'vitest';
import { ERROR_CODES, ERRORS, type ErrorCode, errorCodeOfProto, KeeperError } from './errors.ts';

describe('the table of errors', () => {
  it("has ZooKeeper's numbers, which its clients switch on", () => {
    const expected: Partial<Record<ErrorCode, number>> = {
      NO_NODE: -101,
      NO_AUTH: -102,
      BAD_VERSION: -103,
      NO_CHILDREN_FOR_EPHEMERALS: -108,
      NODE_EXISTS: -110,
      NOT_EMPTY: -111,
      SESSION_EXPIRED: -112,
      SESSION_MOVED: -118,
      THROTTLED: -127,
      INVALID_ARGUMENT: -8,
      MARSHALLING_ERROR: -5,
      UNIMPLEMENTED: -6,
    };
    for (const [code, number] of Object.entries(expected)) {
      expect({ code, number: ERRORS[code as ErrorCode].zookeeper }).toEqual({ code, number });
    }
  });

  it('has one proto number a code and finds the code again', () => {
    const numbers = ERROR_CODES.map((code) => ERRORS[code].proto).sort((a, b) => a - b);
    expect(new Set(numbers).size).toBe(numbers.length);
    for (const code of ERROR_CODES) expect(errorCodeOfProto(ERRORS[code].proto)).toBe(code);
    for (const unknown of [0, -1, (numbers.at(-1) as number) + 1, 1.5])
      expect(errorCodeOfProto(unknown)).toBeUndefined();
  });

  it('has a gRPC status that says failure, and never retries what may have taken effect', () => {
    for (const code of ERROR_CODES) {
      expect(ERRORS[code].grpc, code).toBeGreaterThanOrEqual(1);
      expect(ERRORS[code].grpc, code).toBeLessThanOrEqual(16);
    }
    expect(ERRORS.OUTCOME_UNKNOWN.retryable).toBe(false);
    expect(ERRORS.DEADLINE_EXCEEDED.retryable).toBe(false);
  });
});

describe('a KeeperError', () => {
  it('carries its code, its path and its cause', () => {
    const cause = new Error('socket closed');
    const error = new KeeperError('UNAVAILABLE', 'Cannot create /a: no quorum', { path: '/a', cause });
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.code, error.path, error.cause]).toEqual(['KeeperError', 'UNAVAILABLE', '/a', cause]);
    expect(error.message).toBe('Cannot create /a: no quorum');
  });

  it('has no path and no cause when it was given none', () => {
    const error = new KeeperError('INTERNAL', 'Cannot go on');
    expect(error.path).toBeUndefined();
    expect('cause' in error).toBe(false);
  });
});
