import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router';
import { bannerSearchOf } from './pages/banner/sections.js';
import { filtersOf } from './pages/consents/filters.js';
import { namedVersionOf } from './pages/documents/named-version.js';
import { Failed } from './pages/failed.js';
import { NotFound } from './pages/not-found.js';
import { shownOf } from './pages/overview/period.js';
import { shownOf as shownMonthsOf } from './pages/statistics/shown-months.js';
import { placeOf } from './pages/wizard/place.js';
import { signInMark } from './preferences.js';
import { Panel } from './shell/panel.js';

/** A page that needs a sign-in. A visitor who signs in does not load its file before that. */
const pageForUsers: typeof lazyRouteComponent = (importer, exportName) => {
  const component = lazyRouteComponent(importer, exportName);
  const { preload } = component;
  component.preload = async () => (signInMark.isSet() ? preload?.() : undefined);
  return component;
};

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
  component: pageForUsers(() => import('./pages/overview/overview.js'), 'Overview'),
});
const sites = createRoute({
  getParentRoute: () => panel,
  path: '/sites',
  component: pageForUsers(() => import('./pages/sites/sites.js'), 'Sites'),
});
const newSite = createRoute({
  getParentRoute: () => panel,
  path: '/sites/new',
  validateSearch: placeOf,
  component: pageForUsers(() => import('./pages/wizard/wizard.js'), 'Wizard'),
});
const site = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId',
  component: pageForUsers(() => import('./pages/sites/site.js'), 'SitePage'),
});
const keys = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/api',
  component: pageForUsers(() => import('./pages/keys/keys.js'), 'Keys'),
});
const webhooks = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/webhooks',
  component: pageForUsers(() => import('./pages/webhooks/webhooks.js'), 'Webhooks'),
});
const consents = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/consents',
  validateSearch: filtersOf,
  component: pageForUsers(() => import('./pages/consents/consents.js'), 'Consents'),
});
const consent = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/consents/$consentId',
  validateSearch: filtersOf,
  component: pageForUsers(() => import('./pages/consents/consent.js'), 'Consent'),
});
const documents = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/documents',
  component: pageForUsers(() => import('./pages/documents/documents.js'), 'Documents'),
});
const document = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/documents/$documentId',
  validateSearch: namedVersionOf,
  component: pageForUsers(() => import('./pages/documents/document.js'), 'DocumentPage'),
});
const erasures = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/erasures',
  component: pageForUsers(() => import('./pages/erasures/erasures.js'), 'Erasures'),
});
const erasure = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/erasures/$erasureId',
  component: pageForUsers(() => import('./pages/erasures/erasure.js'), 'ErasurePage'),
});
const evidence = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/evidence',
  component: pageForUsers(() => import('./pages/evidence/evidence.js'), 'Evidence'),
});
const team = createRoute({
  getParentRoute: () => panel,
  path: '/team',
  component: pageForUsers(() => import('./pages/team/team.js'), 'Team'),
});
const auditLog = createRoute({
  getParentRoute: () => panel,
  path: '/audit-log',
  component: pageForUsers(() => import('./pages/audit/audit-log.js'), 'AuditLog'),
});
const plan = createRoute({
  getParentRoute: () => panel,
  path: '/plan',
  component: pageForUsers(() => import('./pages/plan/plan.js'), 'Plan'),
});
const profile = createRoute({
  getParentRoute: () => panel,
  path: '/profile',
  component: pageForUsers(() => import('./pages/account/profile.js'), 'Profile'),
});
const banner = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/banner',
  validateSearch: bannerSearchOf,
  component: pageForUsers(() => import('./pages/banner/banner.js'), 'Banner'),
});
/** The page itself shows the section of the address, and stays when another one is chosen. */
const bannerSection = createRoute({ getParentRoute: () => banner, path: '$section' });
const statistics = createRoute({
  getParentRoute: () => panel,
  path: '/sites/$siteId/statistics',
  validateSearch: shownMonthsOf,
  component: pageForUsers(() => import('./pages/statistics/statistics.js'), 'Statistics'),
});
const timestamps = createRoute({
  getParentRoute: () => panel,
  path: '/timestamps',
  component: pageForUsers(() => import('./pages/timestamps/timestamps.js'), 'Timestamps'),
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
