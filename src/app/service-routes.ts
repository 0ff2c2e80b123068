import type pg from 'pg';
import type { QueueMail } from '../accounts/mail/mail-queue.js';
import type { FactorKeys } from '../accounts/second-factor/factor-secrets.js';
import type { CheckPassword } from '../accounts/sign-in/check-password.js';
import type { CreateAccount } from '../api/auth/auth-deps.js';
import { authRoutes } from '../api/auth/auth-routes.js';
import { serveAuth } from '../api/auth/route.js';
import { checkpointRoutes } from '../api/checkpoints/checkpoint-routes.js';
import { type DiscoveryOptions, discoveryRoutes } from '../api/discovery/discovery-routes.js';
import type { ApiUsers } from '../api/guards/bearer.js';
import type { LoadGate } from '../api/guards/load-gate.js';
import type { RateLimiter } from '../api/guards/rate-limiter.js';
import { createScannerGuard } from '../api/guards/scanner-guard.js';
import { createToolGuards } from '../api/guards/tool-guard.js';
import type { PanelRoute } from '../api/panel/route.js';
import { type ServePanelOptions, servePanel } from '../api/panel/serve-panel.js';
import { browserSdk } from '../api/public/browser-sdk.js';
import { dashboard } from '../api/public/dashboard.js';
import { type PublicVerifyOptions, servePublic } from '../api/public/public-verify.js';
import { verifyPage } from '../api/public/verify-page.js';
import type { RouteGroup } from '../api/server/app.js';
import { allowCrossOrigin } from '../api/server/cors.js';
import { healthRoutes } from '../api/server/health.js';
import { paceLargeTexts } from '../api/server/pace-large-texts.js';
import { serveTool, type ToolRoute } from '../api/tool/route.js';
import type { Verifier } from '../evidence/verification/verifier.js';
import type { Readiness } from '../platform/health/readiness.js';
import type { KeyUsage } from '../tenancy/api-keys/key-usage.js';
import type { SiteDirectory } from '../tenancy/directory/site-context.js';

export interface ServiceOptions {
  /** In the role `consent_ledger_api`. */
  readonly db: pg.Pool;
  readonly directory: SiteDirectory;
  readonly rateLimiter: RateLimiter;
  readonly apiUsers: ApiUsers;
  readonly keyUsage: KeyUsage;
  readonly checkPassword: CheckPassword;
  readonly refreshKey: () => Promise<Uint8Array>;
  /** Null: the service sends no mail. */
  readonly queueMail: QueueMail | null;
  readonly factorKeys: FactorKeys;
  /** Null: only invited people become users. */
  readonly createAccount: CreateAccount | null;
  readonly verifier: Verifier;
  readonly receiptOf: PublicVerifyOptions['receiptOf'];
  readonly readiness: Readiness;
  /** The root certificates of the time stamps in PEM; null: this process does not have them. */
  readonly readTsaRoots: () => Promise<string | null>;
  readonly discovery: DiscoveryOptions;
  readonly panel: ServePanelOptions & { readonly routes: readonly PanelRoute[] };
  /** Requests per minute of one client. */
  readonly limits: {
    readonly invalidKeys: number;
    readonly publicVerify: number;
  };
  /** The host of the public scanner; undefined: there is none. */
  readonly scannerHost: string | undefined;
  /** Gate for the signed requests of the Tool API. */
  readonly gate: LoadGate;
  readonly toolRoutes: readonly ToolRoute[];
  /** @returns Unix milliseconds */
  readonly clock: () => number;
}

/** All routes of the service, in groups. */
export function serviceRoutes(options: ServiceOptions): readonly RouteGroup[] {
  const { db, rateLimiter, verifier } = options;
  const guards = createToolGuards({
    directory: options.directory,
    rateLimiter,
    apiUsers: options.apiUsers,
    keyUsage: options.keyUsage,
    invalidKeyLimit: options.limits.invalidKeys,
  });
  const { scannerHost: host, directory } = options;
  const scanner = host === undefined ? null : createScannerGuard({ host, directory, rateLimiter });
  return [
    (scope) => healthRoutes(scope, { readiness: options.readiness, serving: 'callers' }),
    async (scope) => {
      await scope.register(
        async (tool) => {
          allowCrossOrigin(tool);
          serveTool(tool, options.toolRoutes, { guards, scanner, gate: options.gate, clock: options.clock });
        },
        { prefix: '/tool/v1' },
      );
    },
    async (scope) => {
      await scope.register(
        async (open) => {
          allowCrossOrigin(open);
          servePublic(open, {
            verifier,
            receiptOf: options.receiptOf,
            rateLimiter,
            limit: options.limits.publicVerify,
            now: () => performance.now(),
          });
        },
        { prefix: '/api/v1/public' },
      );
    },
    (scope) => servePanel(scope, options.panel.routes, options.panel),
    (scope) => {
      const authOptions = {
        checkPassword: options.checkPassword,
        rateLimiter,
        apiPool: db,
        adminPool: options.panel.adminPool,
        seals: options.panel.seals,
        refreshKey: options.refreshKey,
        queueMail: options.queueMail,
        factorKeys: options.factorKeys,
        createAccount: options.createAccount,
      };
      serveAuth(scope, authRoutes({ ...options.apiUsers, ...authOptions }), options.apiUsers);
    },
    (scope) => checkpointRoutes(scope, db, options.readTsaRoots),
    (scope) => {
      paceLargeTexts(scope, () => performance.now());
      discoveryRoutes(scope, options.discovery);
      verifyPage(scope);
      browserSdk(scope);
      dashboard(scope);
    },
  ];
}
