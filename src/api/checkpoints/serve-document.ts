import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { validate } from '../server/json-body.js';
import type { Operation } from '../server/operation.js';
import { paramsOf, registerOperation } from '../server/register-operation.js';
import { type PublicDocument, sendDocument } from '../server/send-document.js';

/** For what never changes. */
export const FOREVER = 'public, max-age=31536000, immutable';
/** For what grows. */
export const SHORTLY = 'public, max-age=10';

/** Registers an operation that responds with a document. @returns the handler that was registered */
export function serveDocument<P extends z.ZodObject, Q extends z.ZodObject>(
  scope: FastifyInstance,
  operation: Operation<P, Q>,
  documentOf: (params: z.output<P>, query: z.output<Q>) => Promise<PublicDocument>,
) {
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const params = paramsOf(operation, request);
    return sendDocument(request, reply, await documentOf(params, validate(operation.query, request.query)));
  };
  registerOperation(scope, operation, { handler });
  return handler;
}
