import type pg from 'pg';
import type { CheckPassword } from '../accounts/sign-in/check-password.js';
import { authRoutes } from '../api/auth/auth-routes.js';
import { serveAuth } from '../api/auth/route.js';
import { checkpointRoutes } from '../api/checkpoints/checkpoint-routes.js';
import { type DiscoveryDeps, discoveryRoutes } from '../api/discovery/discovery-routes.js';
import type { ApiUsers } from '../api/guards/bearer.js';
import type { RateLimiter } from '../api/guards/rate-limiter.js';
import { createToolGuards } from '../api/guards/tool-guard.js';
import type { PanelRoute } from '../api/panel/route.js';
import { type ServePanelDeps, servePanel } from '../api/panel/serve-panel.js';
import { servePublic } from '../api/public/public-verify.js';
import { verifyPage } from '../api/public/verify-page.js';
import type { RouteGroup } from '../api/server/app.js';
import { allowCrossOrigin } from '../api/server/cors.js';
import { type CheckReadiness, healthRoutes } from '../api/server/health.js';
import { serveTool, type ToolRoute } from '../api/tool/route.js';
import type { Verifier } from '../evidence/verification/verifier.js';
import type { KeyUsage } from '../tenancy/api-keys/key-usage.js';
import type { SiteDirectory } from '../tenancy/directory/site-context.js';

export interface ServiceDeps {
  /** Connections in the role `consent_ledger_api`. */
  readonly pool: pg.Pool;
  readonly directory: SiteDirectory;
  readonly rateLimiter: RateLimiter;
  readonly apiUsers: ApiUsers;
  readonly keyUsage: KeyUsage;
  readonly checkPassword: CheckPassword;
  readonly verifier: Verifier;
  readonly checkReadiness: CheckReadiness;
  readonly discovery: DiscoveryDeps;
  readonly panel: ServePanelDeps & { readonly routes: readonly PanelRoute[] };
  /** A minute, from one address. */
  readonly limits: { readonly invalidKeys: number; readonly publicVerify: number };
  readonly toolRoutes: readonly ToolRoute[];
  /** @returns Unix milliseconds */
  readonly clock: () => number;
}

/** Every route of the service, in groups. */
export function serviceRoutes(deps: ServiceDeps): readonly RouteGroup[] {
  const { pool, rateLimiter, verifier } = deps;
  const guards = createToolGuards({
    directory: deps.directory,
    rateLimiter,
    apiUsers: deps.apiUsers,
    keyUsage: deps.keyUsage,
    invalidKeyLimit: deps.limits.invalidKeys,
  });
  return [
    (scope) => healthRoutes(scope, deps.checkReadiness),
    async (scope) => {
      await scope.register(
        async (tool) => {
          allowCrossOrigin(tool);
          serveTool(tool, deps.toolRoutes, { guards, clock: deps.clock });
        },
        { prefix: '/tool/v1' },
      );
    },
    async (scope) => {
      await scope.register(
        async (open) => {
          allowCrossOrigin(open);
          servePublic(open, { verifier, rateLimiter, limit: deps.limits.publicVerify });
        },
        { prefix: '/api/v1/public' },
      );
    },
    (scope) => servePanel(scope, deps.panel.routes, deps.panel),
    (scope) => {
      const options = {
        checkPassword: deps.checkPassword,
        rateLimiter,
        apiPool: pool,
        adminPool: deps.panel.adminPool,
      };
      serveAuth(scope, authRoutes({ ...deps.apiUsers, ...options }), deps.apiUsers);
    },
    (scope) => checkpointRoutes(scope, pool),
    (scope) => discoveryRoutes(scope, deps.discovery),
    verifyPage,
  ];
}
