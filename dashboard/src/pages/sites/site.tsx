import { Link } from '@tanstack/react-router';
import type { Site } from '../../api/types.js';
import { useMessages } from '../../i18n/locale.js';
import { Loaded } from '../../ui/loaded.js';
import { Page, Section } from '../../ui/page.js';
import { DomainSection } from './domain-section.js';
import { RetentionSection } from './retention-section.js';
import { SettingsSection } from './settings-section.js';
import { useSite, useSiteId } from './use-site.js';

/** One site: its domain, its settings and for how long it keeps personal values. */
export function SitePage() {
  const { sites } = useMessages();
  const query = useSite(useSiteId());
  return (
    <Loaded query={query}>
      {(site) => (
        <Page key={site.id} title={site.name} lead={sites.settingsLead}>
          <Steps site={site} />
          <DomainSection site={site} />
          <SettingsSection site={site} />
          <RetentionSection site={site} />
        </Page>
      )}
    </Loaded>
  );
}

/** Steps that are left before the site can record consents. */
function Steps({ site }: { readonly site: Site }) {
  const { sites, shell } = useMessages();
  if (site.verified_at !== null && site.configuration !== null) return null;
  const params = { siteId: site.id };
  return (
    <Section title={sites.steps}>
      <ol className="steps">
        {site.verified_at === null ? <li>{sites.stepDomain}</li> : null}
        {site.configuration === null ? (
          <li>
            {sites.stepBanner}{' '}
            <Link to="/sites/$siteId/banner" params={params}>
              {shell.banner}
            </Link>
          </li>
        ) : null}
        <li>
          {sites.stepKey}{' '}
          <Link to="/sites/$siteId/api" params={params}>
            {shell.apiSettings}
          </Link>
        </li>
      </ol>
    </Section>
  );
}
