import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import type { FairTurns } from '../guards/fair-turns.js';
import { goneClient } from '../server/gone-client.js';
import { validate } from '../server/json-body.js';
import type { Operation } from '../server/operation.js';
import { paramsOf, registerOperation } from '../server/register-operation.js';
import { type PublicDocument, sendDocument } from '../server/send-document.js';

/** For what never changes. */
export const FOREVER = 'public, max-age=31536000, immutable';
/** For what grows. */
export const SHORTLY = 'public, max-age=10';

/** Registers an operation that responds with a document. @returns the handler that was registered */
export type ServeDocument = <P extends z.ZodObject, Q extends z.ZodObject>(
  operation: Operation<P, Q>,
  documentOf: (params: z.output<P>, query: z.output<Q>) => Promise<PublicDocument>,
) => (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/**
 * Returns how a scope serves documents of the ledger.
 * @param turns turns of addresses, in which the documents are made
 */
export function documentsOf(scope: FastifyInstance, turns: FairTurns): ServeDocument {
  return (operation, documentOf) => {
    const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const params = paramsOf(operation, request);
      const query = validate(operation.query, request.query);
      const make = () => documentOf(params, query);
      return sendDocument(request, reply, await turns.take(request.countedClient, make, goneClient(reply)));
    };
    registerOperation(scope, operation, { handler });
    return handler;
  };
}
