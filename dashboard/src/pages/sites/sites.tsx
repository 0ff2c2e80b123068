import { useMessages } from '../../i18n/locale.js';
import { Page } from '../../ui/page.js';
import { SiteList } from './site-list.js';

export function Sites() {
  const { sites } = useMessages();
  return (
    <Page title={sites.title} lead={sites.lead}>
      <SiteList />
    </Page>
  );
}
