import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FairScheduler } from '../guards/fair-scheduler.js';
import { goneClient } from '../server/gone-client.js';
import { parsedParts, registerOperation } from '../server/register-operation.js';
import type { Route } from '../server/route.js';
import { sendDocument } from '../server/send-document.js';

/** Cache-Control for documents that never change. */
export const FOREVER = 'public, max-age=31536000, immutable';
/** Cache-Control for documents that grow. */
export const SHORTLY = 'public, max-age=10';

/**
 * Requests that one process handles at a time, and the time that a slot stays empty afterwards, as a multiple of the
 * time of the work. The files of the ledger therefore take at most one processor.
 */
const AT_A_TIME = 2;
const PAUSE = 1;
/** Requests that may wait, in all and per address. An auditor requests 16 files ahead. */
const MAX_WAITING = 500;
const MAX_WAITING_OF_OWNER = 32;

/**
 * Creates the scheduler of the public files of the ledger, by address. It does not limit the number of requests: at 40
 * ms a leaf, an auditor can read a million leaves from one address in less than a day.
 * @param now milliseconds of a monotonic clock
 */
export function ledgerTurns(now: () => number): FairScheduler {
  return new FairScheduler({
    slots: AT_A_TIME,
    now,
    pause: PAUSE,
    maxWaiting: MAX_WAITING,
    maxOfOwner: MAX_WAITING_OF_OWNER,
  });
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/**
 * Registers operations that respond with documents of the ledger.
 * @param turns schedules the making of documents by address
 * @returns the handlers that were registered
 */
export function serveDocuments<D>(
  scope: FastifyInstance,
  routes: readonly Route<'public', D>[],
  deps: D,
  turns: FairScheduler,
): readonly Handler[] {
  return routes.map((route) => {
    const handler: Handler = async (request, reply) => {
      const call = { ...parsedParts(route, request), request, reply };
      const make = () => route.handle(call, deps);
      return sendDocument(request, reply, await turns.take(request.countedClient, make, goneClient(reply)));
    };
    registerOperation(scope, route, { handler });
    return handler;
  });
}
