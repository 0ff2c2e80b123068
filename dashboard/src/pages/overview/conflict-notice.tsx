import { Link } from '@tanstack/react-router';
import type { Statistics } from '../../api/types.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { useSites } from '../../shell/use-sites.js';
import { Notice } from '../../ui/notice.js';

/** The sites whose callers reused idempotency keys with another consent. It shows nothing if there are none. */
export function ConflictNotice({ statistics }: { readonly statistics: Statistics | undefined }) {
  const { overview } = useMessages();
  const { number } = useFormats();
  const { data: sites = [] } = useSites();
  const concerned = (statistics?.sites ?? []).filter(({ idempotency_conflicts: count }) => count > 0);
  if (concerned.length === 0) return null;
  return (
    <Notice kind="warning">
      <p>{overview.conflicts}</p>
      <ul className="list">
        {concerned.map(({ site_id: siteId, idempotency_conflicts: count }) => (
          <li key={siteId}>
            <Link to="/sites/$siteId/api" params={{ siteId }}>
              {sites.find(({ id }) => id === siteId)?.name ?? siteId}: {number(count)}
            </Link>
          </li>
        ))}
      </ul>
    </Notice>
  );
}
