import { Link } from '@tanstack/react-router';
import type { Statistics } from '../../api/types.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { useSites } from '../../shell/use-sites.js';
import { Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Counted } from './counted.js';
import type { Shown } from './period.js';

interface SiteCountsProps {
  readonly statistics: Statistics;
  readonly shown: Shown;
}

/** The consents of each site, the largest number first. It shows nothing if there is only one site. */
export function SiteCounts({ statistics, shown }: SiteCountsProps) {
  const { overview } = useMessages();
  const { number, percent } = useFormats();
  const { data: sites = [] } = useSites();
  if (statistics.sites.length < 2) return null;
  const { total } = statistics.totals;
  return (
    <Section title={overview.bySite}>
      <Table
        label={overview.bySite}
        items={statistics.sites.toSorted((a, b) => b.total - a.total)}
        keyOf={({ site_id }) => site_id}
        columns={[
          {
            label: overview.site,
            cell: ({ site_id }) => (
              <Link to="/" search={{ ...shown, site: site_id }}>
                {sites.find(({ id }) => id === site_id)?.name ?? site_id}
              </Link>
            ),
          },
          {
            label: overview.total,
            phone: 'labelled',
            cell: (site) => (
              <Counted statistics={statistics} siteId={site.site_id}>
                {number(site.total)}
              </Counted>
            ),
          },
          {
            label: overview.share,
            phone: 'labelled',
            cell: (site) => (total === 0 ? '' : percent(site.total / total)),
          },
        ]}
      />
    </Section>
  );
}
