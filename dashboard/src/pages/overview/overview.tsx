import { useMessages } from '../../i18n/locale.js';
import { Page } from '../../ui/page.js';
import { SiteList } from '../sites/site-list.js';

export function Overview() {
  const { shell } = useMessages();
  return (
    <Page title={shell.overview}>
      <SiteList />
    </Page>
  );
}
