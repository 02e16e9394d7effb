/** ClusterService: how this member stands, from its own memory, with or without a leader. */
import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import { toStatusResponse, type WireStatusResponse } from '@quorate/protocol/grpc';
import type { CoreAccess } from './core-access.ts';
import { isRefused, type UnaryHandler } from './unary.ts';

export function clusterHandlers(core: CoreAccess): UntypedServiceImplementation {
  const statusOf: UnaryHandler<object, WireStatusResponse> = (_, callback) => {
    const status = core.status();
    if (status !== undefined) callback(null, toStatusResponse(status));
    else isRefused(core, callback);
  };
  return { Status: statusOf };
}
