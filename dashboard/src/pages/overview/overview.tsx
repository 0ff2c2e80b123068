import { Link, useSearch } from '@tanstack/react-router';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { useSites } from '../../shell/use-sites.js';
import { Loaded } from '../../ui/loaded.js';
import { Page, Section } from '../../ui/page.js';
import { Checklist } from '../sites/checklist.js';
import { SiteList } from '../sites/site-list.js';
import { Alarms } from './alarms.js';
import { ConflictNotice } from './conflict-notice.js';
import { Counted } from './counted.js';
import { DecisionChart } from './decision-chart.js';
import { daysOf, PERIODS, type Shown, shownOf } from './period.js';
import { SiteCounts } from './site-counts.js';
import { QuotaTile, StampTile, Tile } from './tiles.js';
import { useStatistics } from './use-statistics.js';

/** The state of the organisation at a glance. Without a site it says what to do first. */
export function Overview() {
  const { overview } = useMessages();
  const { number, percent } = useFormats();
  const sites = useSites();
  const shown = shownOf(useSearch({ strict: false }));
  const statistics = useStatistics(shown);
  const before = useStatistics(shown, true);
  if (sites.data?.length === 0) {
    return (
      <Page title={overview.title}>
        <SiteList />
      </Page>
    );
  }
  const { data } = statistics;
  // The only site of a tenant that begins. Later sites have their steps on their pages.
  const first = sites.data?.length === 1 ? sites.data[0] : undefined;
  const days = number(daysOf(shown));
  const rateBefore = before.data?.acceptance_rate ?? null;
  return (
    <Page title={overview.title} lead={overview.lead(days)}>
      <Alarms />
      <ConflictNotice statistics={data} />
      {first === undefined ? null : <Checklist key={first.id} site={first} />}
      <Choice shown={shown} />
      <dl className="tiles">
        <Tile
          label={overview.consents(days)}
          value={data === undefined ? null : <Counted statistics={data}>{number(data.totals.total)}</Counted>}
          hint={
            data === undefined || before.data === undefined
              ? undefined
              : [
                  changeOf(data.totals.total, before.data.totals.total),
                  ...(data.imported > 0 ? [overview.imported(number(data.imported))] : []),
                ].join('; ')
          }
        />
        <Tile
          label={overview.rate}
          hint={
            rateBefore === null
              ? overview.rateHint
              : `${overview.rateHint}; ${overview.rateBefore(percent(rateBefore))}`
          }
          value={
            data === undefined ? null : data.acceptance_rate === null ? overview.noRate : percent(data.acceptance_rate)
          }
        />
        <QuotaTile />
        <StampTile />
      </dl>
      <Section title={overview.chart}>
        <div className="chart-place">
          <Loaded query={statistics}>{(loaded) => <DecisionChart statistics={loaded} />}</Loaded>
        </div>
      </Section>
      {data === undefined ? null : <SiteCounts statistics={data} shown={shown} />}
      <SiteList />
    </Page>
  );

  function changeOf(now: number, then: number): string {
    if (now === then) return overview.same(days);
    const share = then === 0 ? null : percent(Math.abs(now - then) / then);
    const difference = number(Math.abs(now - then));
    return now > then ? overview.more(difference, share, days) : overview.fewer(difference, share, days);
  }
}

/** The choice of the period, and the way back from one site to all. */
function Choice({ shown }: { readonly shown: Shown }) {
  const { overview } = useMessages();
  const { quantity } = useFormats();
  const { data: sites = [] } = useSites();
  return (
    <nav className="choice" aria-label={overview.period}>
      {PERIODS.map((days) => (
        <Link
          key={days}
          to="/"
          search={{ ...shown, days }}
          className="chip"
          aria-current={days === daysOf(shown) ? 'true' : undefined}
        >
          {quantity(days, 'days')}
        </Link>
      ))}
      {shown.site === undefined ? null : (
        <Link
          to="/"
          search={{ ...shown, site: undefined }}
          activeOptions={{ exact: true }}
          className="chip"
          aria-label={overview.allSites}
        >
          {sites.find(({ id }) => id === shown.site)?.name} <span aria-hidden="true">×</span>
        </Link>
      )}
    </nav>
  );
}
