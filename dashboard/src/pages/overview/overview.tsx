import { useQuery } from '@tanstack/react-query';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { useSites } from '../../shell/use-sites.js';
import { Loaded } from '../../ui/loaded.js';
import { Page, Section } from '../../ui/page.js';
import { SiteList } from '../sites/site-list.js';
import { Alarms } from './alarms.js';
import { ConflictNotice } from './conflict-notice.js';
import { DecisionChart } from './decision-chart.js';
import { QuotaTile, StampTile, Tile } from './tiles.js';

/** The state of the organisation at a glance. Without a site it says what to do first. */
export function Overview() {
  const { overview } = useMessages();
  const { number, percent } = useFormats();
  const api = useApi();
  const sites = useSites();
  const statistics = useQuery({
    queryKey: ['statistics'],
    queryFn: () => dataOf(api.GET('/api/v1/statistics/consents')),
    refetchInterval: 60_000,
  });
  if (sites.data?.length === 0) {
    return (
      <Page title={overview.title}>
        <SiteList />
      </Page>
    );
  }
  const { data } = statistics;
  return (
    <Page title={overview.title} lead={overview.lead}>
      <Alarms />
      <ConflictNotice statistics={data} />
      <dl className="tiles">
        <Tile
          label={overview.consents}
          value={data === undefined ? null : number(data.totals.total)}
          {...(data !== undefined && data.imported > 0 && { hint: overview.imported(number(data.imported)) })}
        />
        <Tile
          label={overview.rate}
          hint={overview.rateHint}
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
      <SiteList />
    </Page>
  );
}
