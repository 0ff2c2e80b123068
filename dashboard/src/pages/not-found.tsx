import { Link } from '@tanstack/react-router';
import { useMessages } from '../i18n/locale.js';
import { Page } from '../ui/page.js';

export function NotFound() {
  const { common } = useMessages();
  return (
    <Page title={common.notFoundTitle} lead={common.notFoundText}>
      <p>
        <Link to="/">{common.toOverview}</Link>
      </p>
    </Page>
  );
}
