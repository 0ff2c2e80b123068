import type { FastifyReply } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';

/** Returns a signal that is aborted when the client closes the connection, so that waiting work can be dropped. */
export function goneClient({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new ApiError('REQUEST_TIMEOUT'));
  if (raw.destroyed) leave();
  else raw.once('close', leave);
  return gone.signal;
}
