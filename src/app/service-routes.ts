import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import type { CheckPassword } from '../accounts/sign-in/check-password.js';
import { authRoutes } from '../api/auth/auth-routes.js';
import { checkpointRoutes } from '../api/checkpoints/checkpoint-routes.js';
import { type DiscoveryDeps, discoveryRoutes } from '../api/discovery/discovery-routes.js';
import type { ApiUsers } from '../api/guards/bearer.js';
import type { RateLimiter } from '../api/guards/rate-limiter.js';
import { createToolGuards, type ToolGuards } from '../api/guards/tool-guard.js';
import type { PanelRoute } from '../api/panel/route.js';
import { type ServePanelDeps, servePanel } from '../api/panel/serve-panel.js';
import { publicVerify } from '../api/public/public-verify.js';
import { verifyPage } from '../api/public/verify-page.js';
import type { RouteGroup } from '../api/server/app.js';
import { allowCrossOrigin } from '../api/server/cors.js';
import { type CheckReadiness, healthRoutes } from '../api/server/health.js';
import { getConfig } from '../api/tool/get-config.js';
import { getDocuments } from '../api/tool/get-documents.js';
import { getPing } from '../api/tool/get-ping.js';
import { type ExportDeps, getS2sExport } from '../api/tool/get-s2s-export.js';
import { getStatus } from '../api/tool/get-status.js';
import { getVerify } from '../api/tool/get-verify.js';
import type { Verifier } from '../evidence/verification/verifier.js';
import type { EventLog } from '../pipeline/event-log/port.js';
import type { ProofKeys } from '../platform/keys/index.js';
import type { DetectRegion } from '../platform/regions/detect-region.js';
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
  readonly detectRegion: DetectRegion;
  readonly eventLog: EventLog;
  readonly proofKeys: ProofKeys;
  readonly onExportError: ExportDeps['onError'];
  readonly checkReadiness: CheckReadiness;
  readonly discovery: DiscoveryDeps;
  readonly panel: ServePanelDeps & { readonly routes: readonly PanelRoute[] };
  /** A minute, from one address. */
  readonly limits: { readonly invalidKeys: number; readonly publicVerify: number };
  /** Registers the routes that record consents, mint tokens and erase, below /tool/v1. */
  readonly recordingRoutes: (tool: FastifyInstance, guards: ToolGuards) => void;
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
          // Every route that takes a body has a guard, which has judged the headers long before.
          tool.addHook('preHandler', async (request) => {
            if (request.method === 'POST') await guards.judgeAgain(request);
          });
          getPing(tool, guards);
          getConfig(tool, guards, deps.detectRegion);
          getDocuments(tool, guards, pool);
          getStatus(tool, guards, pool, deps.proofKeys);
          getVerify(tool, guards, verifier);
          getS2sExport(tool, guards, {
            pool,
            log: deps.eventLog,
            proofKeys: deps.proofKeys,
            onError: deps.onExportError,
          });
          deps.recordingRoutes(tool, guards);
        },
        { prefix: '/tool/v1' },
      );
    },
    async (scope) => {
      await scope.register(
        async (open) => {
          allowCrossOrigin(open);
          publicVerify(open, { verifier, rateLimiter, limit: deps.limits.publicVerify });
        },
        { prefix: '/api/v1/public' },
      );
    },
    async (scope) => {
      await scope.register(async (panel) => servePanel(panel, deps.panel.routes, deps.panel), { prefix: '/api/v1' });
    },
    (scope) =>
      authRoutes(scope, {
        ...deps.apiUsers,
        checkPassword: deps.checkPassword,
        rateLimiter,
        apiPool: pool,
        adminPool: deps.panel.adminPool,
      }),
    (scope) => checkpointRoutes(scope, pool),
    (scope) => discoveryRoutes(scope, deps.discovery),
    verifyPage,
  ];
}
