import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Statistics } from '../../api/types.js';
import type { Decision } from '../consents/filters.js';

interface CountedProps {
  readonly statistics: Statistics;
  /** The site whose records were counted; if omitted, the only one that was. */
  readonly siteId?: string;
  readonly decision?: Decision;
  readonly children: ReactNode;
}

/**
 * A number that links to the records that it counts. There is no link for several sites, because no list has their
 * records.
 */
export function Counted({ statistics, siteId, decision, children }: CountedProps) {
  const { from, to, sites } = statistics;
  const only = siteId ?? (sites.length === 1 ? sites[0]?.site_id : undefined);
  if (only === undefined) return children;
  return (
    <Link
      to="/sites/$siteId/consents"
      params={{ siteId: only }}
      search={{ from, to, zone: statistics.time_zone, decision }}
    >
      {children}
    </Link>
  );
}
