import type { FastifyReply } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';

/** Aborted when the client has closed the connection, so that work that waits can be dropped. */
export function goneClient({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new ApiError('REQUEST_TIMEOUT'));
  if (raw.destroyed) leave();
  else raw.once('close', leave);
  return gone.signal;
}
