import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Statistics } from '../../api/types.js';
import type { Decision } from '../consents/filters.js';

interface CountedProps {
  readonly statistics: Statistics;
  /** The site whose records were counted; unless given, the only one that was. */
  readonly siteId?: string;
  readonly decision?: Decision;
  readonly children: ReactNode;
}

/** A number that leads to the records which it counts; those of several sites are in no list. */
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
