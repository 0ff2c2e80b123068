import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import type { RateLimiter } from '../admission/rate-limiter.js';
import type { KeyUsage } from '../catalogue/key-usage.js';
import type { SiteDirectory } from '../catalogue/site-context.js';
import type { EventLog } from '../event-log/port.js';
import type { ProofKeys } from '../keys/index.js';
import type { PanelRoute } from '../panel/route.js';
import { type ServePanelDeps, servePanel } from '../panel/serve-panel.js';
import type { CheckPassword } from '../sign-in/check-password.js';
import type { Verifier } from '../verification/verifier.js';
import type { RouteGroup } from './app.js';
import { allowCrossOrigin } from './cors.js';
import type { ApiUsers } from './guards/bearer.js';
import { createToolGuards, type ToolGuards } from './guards/tool-guard.js';
import { authRoutes } from './routes/auth/auth-routes.js';
import { checkpointRoutes } from './routes/checkpoints/checkpoint-routes.js';
import { type DiscoveryDeps, discoveryRoutes } from './routes/discovery/discovery-routes.js';
import { type CheckReadiness, healthRoutes } from './routes/health.js';
import { publicVerify } from './routes/public/public-verify.js';
import { type DetectRegion, getConfig } from './routes/tool/get-config.js';
import { getDocuments } from './routes/tool/get-documents.js';
import { getPing } from './routes/tool/get-ping.js';
import { type ExportDeps, getS2sExport } from './routes/tool/get-s2s-export.js';
import { getStatus } from './routes/tool/get-status.js';
import { getVerify } from './routes/tool/get-verify.js';
import { verifyPage } from './routes/verify-page.js';

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
