import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { SignedInUser } from '../../accounts/users/user-directory.js';
import { type ApiUsers, authenticateUser } from '../guards/bearer.js';
import type { Operation } from '../server/operation.js';
import { parsedParts, registerOperation } from '../server/register-operation.js';
import type { Route } from '../server/route.js';
import type { AuthDeps } from './deps.js';

/** An operation of sign-in. Its handler may set headers of the reply, and returns the body. */
export type AuthRoute = Route<'open' | 'user', AuthDeps>;

/** Registers the operations of sign-in. The bearer token and the role are checked before the body is parsed. */
export function serveAuth(scope: FastifyInstance, routes: readonly AuthRoute[], deps: AuthDeps): void {
  for (const route of routes) {
    registerOperation(scope, route, {
      handler: async (request, reply) => {
        if (route.auth === 'open') return route.handle({ ...parsedParts(route, request), request, reply }, deps);
        const user = await permittedUser(deps, route, request);
        return route.handle({ ...parsedParts(route, request), request, reply, user }, deps);
      },
    });
  }
}

async function permittedUser(
  users: ApiUsers,
  { access }: Operation,
  { headers }: FastifyRequest,
): Promise<SignedInUser> {
  const user = await authenticateUser(users, headers.authorization);
  if (access.roles?.includes(user.role) === true) return user;
  throw new ApiError(
    'INSUFFICIENT_ROLE',
    'This route is for users of the panel. An api_user can use the S2S API only.',
  );
}
