import { Link } from '@tanstack/react-router';
import { useMessages } from '../../i18n/locale.js';
import { LoadedPage } from '../../ui/loaded-page.js';
import { Page } from '../../ui/page.js';
import { Checklist } from './checklist.js';
import { DomainSection } from './domain-section.js';
import { RetentionSection } from './retention-section.js';
import { SettingsSection } from './settings-section.js';
import { useSite, useSiteId } from './use-site.js';

/** One site: its domain, its settings and how long it keeps personal values. */
export function SitePage() {
  const { sites } = useMessages();
  const query = useSite(useSiteId());
  return (
    <LoadedPage query={query} back={<Link to="/sites">{sites.title}</Link>}>
      {(site) => (
        <Page key={site.id} title={site.name} lead={sites.settingsLead}>
          <Checklist site={site} />
          <DomainSection site={site} />
          <SettingsSection site={site} />
          <RetentionSection site={site} />
        </Page>
      )}
    </LoadedPage>
  );
}
