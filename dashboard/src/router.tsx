import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router';
import { bannerSearchOf } from './pages/banner/sections.js';
import { filtersOf } from './pages/consents/filters.js';
import { Failed } from './pages/failed.js';
import { NotFound } from './pages/not-found.js';
import { shownOf } from './pages/overview/period.js';
import { shownOf as shownMonthsOf } from './pages/statistics/shown-months.js';
import { placeOf } from './pages/wizard/place.js';
import { Panel } from './shell/panel.js';

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

const acceptInvitation = createRoute({
  getParentRoute: () => root,
  path: '/accept-invitation',
  component: lazyRouteComponent(() => import('./pages/auth/accept-invitation.js'), 'AcceptInvitation'),
});
const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('./pages/auth/reset-password.js'), 'ResetPassword'),
});
const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./pages/auth/forgot-password.js'), 'ForgotPassword'),
});
const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  component: lazyRouteComponent(() => import('./pages/auth/sign-up.js'), 'SignUp'),
});
const confirmSignUp = createRoute({
  getParentRoute: () => root,
  path: '/confirm-sign-up',
  component: lazyRouteComponent(() => import('./pages/auth/confirm-sign-up.js'), 'ConfirmSignUp'),
});

/** Pages that need a sign-in. */
const panel = createRoute({ getParentRoute: () => root, id: 'panel', component: Panel });

/** An address below the panel that no page has: the navigation stays. */
const unknown = createRoute({ getParentRoute: () => panel, path: '$', component: NotFound });

const overview = createRoute({
  getParentRoute: () => panel,
  path: '/',
  validateSearch: shownOf,
  component: lazyRouteComponent(() => import('./pages/overview/overview.js'), 'Overview'),
});
const sites = createRoute({
  getParentRoute: () => panel,
  path: '/sites',
  component: lazyRouteComponent(() => import('./pages/sites/sites.js'), 'Sites'),
});
const newSite = createRoute({
  getParentRoute: () => panel,
  path: '/sites/new',
  validateSearch: placeOf,
  component: lazyRouteComponent(() => import('./pages/wizard/wizard.js'), 'Wizard'),
});
const site = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId',
  component: lazyRouteComponent(() => import('./pages/sites/site.js'), 'SitePage'),
});
const keys = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/api',
  component: lazyRouteComponent(() => import('./pages/keys/keys.js'), 'Keys'),
});
const webhooks = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks/webhooks.js'), 'Webhooks'),
});
const consents = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/consents',
  validateSearch: filtersOf,
  component: lazyRouteComponent(() => import('./pages/consents/consents.js'), 'Consents'),
});
const consent = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/consents/$consentId',
  validateSearch: filtersOf,
  component: lazyRouteComponent(() => import('./pages/consents/consent.js'), 'Consent'),
});
const documents = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/documents',
  component: lazyRouteComponent(() => import('./pages/documents/documents.js'), 'Documents'),
});
const document = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/documents/$documentId',
  component: lazyRouteComponent(() => import('./pages/documents/document.js'), 'DocumentPage'),
});
const erasures = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/erasures',
  component: lazyRouteComponent(() => import('./pages/erasures/erasures.js'), 'Erasures'),
});
const erasure = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/erasures/$erasureId',
  component: lazyRouteComponent(() => import('./pages/erasures/erasure.js'), 'ErasurePage'),
});
const evidence = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/evidence',
  component: lazyRouteComponent(() => import('./pages/evidence/evidence.js'), 'Evidence'),
});
const team = createRoute({
  getParentRoute: () => panel,
  path: '/team',
  component: lazyRouteComponent(() => import('./pages/team/team.js'), 'Team'),
});
const auditLog = createRoute({
  getParentRoute: () => panel,
  path: '/audit-log',
  component: lazyRouteComponent(() => import('./pages/audit/audit-log.js'), 'AuditLog'),
});
const plan = createRoute({
  getParentRoute: () => panel,
  path: '/plan',
  component: lazyRouteComponent(() => import('./pages/plan/plan.js'), 'Plan'),
});
const profile = createRoute({
  getParentRoute: () => panel,
  path: '/profile',
  component: lazyRouteComponent(() => import('./pages/account/profile.js'), 'Profile'),
});
const banner = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/banner',
  validateSearch: bannerSearchOf,
  component: lazyRouteComponent(() => import('./pages/banner/banner.js'), 'Banner'),
});
/** The page itself shows the section of the address, and stays when another one is chosen. */
const bannerSection = createRoute({ getParentRoute: () => banner, path: '$section' });
const statistics = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/statistics',
  validateSearch: shownMonthsOf,
  component: lazyRouteComponent(() => import('./pages/statistics/statistics.js'), 'Statistics'),
});
const timestamps = createRoute({
  getParentRoute: () => panel,
  path: '/timestamps',
  component: lazyRouteComponent(() => import('./pages/timestamps/timestamps.js'), 'Timestamps'),
});

const routes = root.addChildren([
  acceptInvitation,
  resetPassword,
  forgotPassword,
  signUp,
  confirmSignUp,
  panel.addChildren([
    unknown,
    overview,
    sites,
    newSite,
    site,
    keys,
    webhooks,
    consents,
    consent,
    documents,
    document,
    erasures,
    erasure,
    evidence,
    banner.addChildren([bannerSection]),
    statistics,
    timestamps,
    team,
    auditLog,
    plan,
    profile,
  ]),
]);

/** The pages of the dashboard, each loaded when it is opened. */
export function createPanelRouter() {
  return createRouter({
    routeTree: routes,
    basepath: '/panel',
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: Failed,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPanelRouter>;
  }
}
