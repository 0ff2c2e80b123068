import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMay } from '../app-context.js';
import { useMessages } from '../i18n/locale.js';
import { Icon } from './icon.js';
import { useSites } from './use-sites.js';

/** The links to all pages: of one site, and of the organisation. */
export function Navigation() {
  const { shell } = useMessages();
  // The links of the site would move those of the organisation.
  const { isPending } = useSites();
  return (
    <nav aria-label={shell.navigation} className="navigation">
      <ul>
        <li>
          <Link to="/" activeOptions={{ exact: true, includeSearch: false }}>
            <Icon name="overview" />
            {shell.overview}
          </Link>
        </li>
        <li>
          <Link to="/sites" activeOptions={{ exact: true, includeSearch: false }}>
            <Icon name="sites" />
            {shell.sites}
          </Link>
        </li>
      </ul>
      {isPending ? null : (
        <>
          <SiteLinks />
          <OrganisationLinks />
        </>
      )}
    </nav>
  );
}

function SiteLinks() {
  const { shell } = useMessages();
  const navigate = useNavigate();
  const mayExport = useMay('export');
  const mayErase = useMay('erase');
  const maySeeWebhooks = useMay('seeWebhooks');
  const { data: sites = [] } = useSites();
  const { siteId: inPath } = useParams({ strict: false });
  // The guide and the overview name a site there.
  const { site: inSearch } = useSearch({ strict: false });
  const site = sites.find(({ id }) => id === (inPath ?? inSearch)) ?? sites[0];
  if (site === undefined) return null;
  const params = { siteId: site.id };
  return (
    <div className="navigation-group">
      <label className="label">
        {shell.chosenSite}
        <select
          className="input"
          value={site.id}
          onChange={({ target }) => navigate({ to: '/sites/$siteId', params: { siteId: target.value } })}
        >
          {sites.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <ul>
        <li>
          <Link to="/sites/$siteId/consents" params={params}>
            <Icon name="consents" />
            {shell.consents}
          </Link>
        </li>
        <li>
          <Link to="/sites/$siteId/documents" params={params}>
            <Icon name="documents" />
            {shell.documents}
          </Link>
        </li>
        <li>
          <Link to="/sites/$siteId/banner" params={params}>
            <Icon name="banner" />
            {shell.banner}
          </Link>
        </li>
        <li>
          <Link to="/sites/$siteId/statistics" params={params}>
            <Icon name="statistics" />
            {shell.statistics}
          </Link>
        </li>
        {mayExport ? (
          <li>
            <Link to="/sites/$siteId/evidence" params={params}>
              <Icon name="evidence" />
              {shell.evidence}
            </Link>
          </li>
        ) : null}
        {mayErase ? (
          <li>
            <Link to="/sites/$siteId/erasures" params={params}>
              <Icon name="erasures" />
              {shell.erasures}
            </Link>
          </li>
        ) : null}
      </ul>
      <span className="navigation-title" id="settings-links">
        {shell.settings}
      </span>
      <ul aria-labelledby="settings-links">
        <li>
          <Link to="/sites/$siteId" params={params} activeOptions={{ exact: true, includeSearch: false }}>
            <Icon name="site" />
            {shell.siteSettings}
          </Link>
        </li>
        <li>
          <Link to="/sites/$siteId/api" params={params}>
            <Icon name="keys" />
            {shell.apiSettings}
          </Link>
        </li>
        {maySeeWebhooks ? (
          <li>
            <Link to="/sites/$siteId/webhooks" params={params}>
              <Icon name="webhooks" />
              {shell.webhooks}
            </Link>
          </li>
        ) : null}
      </ul>
    </div>
  );
}

function OrganisationLinks() {
  const { shell } = useMessages();
  const maySeeTeam = useMay('seeTeam');
  const maySeeLog = useMay('seeAuditLog');
  return (
    <div className="navigation-group">
      <span className="navigation-title" id="organisation-links">
        {shell.organisation}
      </span>
      <ul aria-labelledby="organisation-links">
        <li>
          <Link to="/timestamps">
            <Icon name="timestamps" />
            {shell.timestamps}
          </Link>
        </li>
        {maySeeTeam ? (
          <li>
            <Link to="/team">
              <Icon name="team" />
              {shell.team}
            </Link>
          </li>
        ) : null}
        {maySeeLog ? (
          <li>
            <Link to="/audit-log">
              <Icon name="auditLog" />
              {shell.auditLog}
            </Link>
          </li>
        ) : null}
        <li>
          <Link to="/plan">
            <Icon name="plan" />
            {shell.plan}
          </Link>
        </li>
        <li>
          <Link to="/profile">
            <Icon name="profile" />
            {shell.profile}
          </Link>
        </li>
      </ul>
    </div>
  );
}
