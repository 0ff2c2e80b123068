import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { SignedInUser } from '../../accounts/users/user-directory.js';
import { type ApiUsers, authenticateUser } from '../guards/bearer.js';
import type { Operation } from '../server/operation.js';
import { bodyOf, registerOperation } from '../server/register-operation.js';

/** A request of sign-in whose body matches its schema. */
export interface AuthCall<B> {
  readonly body: B;
  readonly request: FastifyRequest;
  /** For headers only: the route returns the body. */
  readonly reply: FastifyReply;
}

/** An operation of sign-in with its handler. */
export interface AuthRoute {
  readonly operation: Operation;
  answer(request: FastifyRequest, reply: FastifyReply, users: ApiUsers): Promise<unknown>;
}

/** A route without a bearer token: the credentials are in the body. */
export function open<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  operation: Operation<P, Q, B, R>,
  handle: (call: AuthCall<z.output<B>>) => Promise<z.input<R>>,
): AuthRoute {
  return {
    operation,
    answer: async (request, reply) => handle({ body: bodyOf(operation, request), request, reply }),
  };
}

/**
 * A route of a signed-in user: the bearer token and the role are checked before the body is parsed.
 */
export function signedIn<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  operation: Operation<P, Q, B, R>,
  handle: (call: AuthCall<z.output<B>> & { readonly user: SignedInUser }) => Promise<z.input<R>>,
): AuthRoute {
  return {
    operation,
    answer: async (request, reply, users) => {
      const user = await authenticateUser(users, request.headers.authorization);
      if (operation.access.roles?.includes(user.role) !== true) {
        throw new ApiError(
          'INSUFFICIENT_ROLE',
          'This route is for users of the panel. An api_user can use the S2S API only.',
        );
      }
      return handle({ body: bodyOf(operation, request), request, reply, user });
    },
  };
}

/** Registers the operations of sign-in. */
export function serveAuth(scope: FastifyInstance, routes: readonly AuthRoute[], users: ApiUsers): void {
  for (const { operation, answer } of routes) {
    registerOperation(scope, operation, { handler: async (request, reply) => answer(request, reply, users) });
  }
}
