import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { dataOf } from '../../api/client.js';
import type { Breakdown } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { Button } from '../../ui/button.js';
import { csvOf } from '../../ui/csv.js';
import { SelectInput } from '../../ui/fields.js';
import { Loaded } from '../../ui/loaded.js';
import { Page, Section } from '../../ui/page.js';
import { saveAs } from '../../ui/save-as.js';
import { Table } from '../../ui/table.js';
import { useSiteId } from '../sites/use-site.js';
import { rowsBeside, tableOf } from './breakdown-table.js';
import { BREAKDOWNS, finishedMonths, shownOf } from './shown-months.js';

/** The decisions of a month or two of a site, by one property. */
export function Statistics() {
  const { statistics } = useMessages();
  const siteId = useSiteId();
  const navigate = useNavigate();
  const { month: monthName } = useFormats();
  const shown = shownOf(useSearch({ strict: false }));
  const months = finishedMonths(Date.now());
  const { by = 'language', month = months[0] ?? '', beside } = shown;
  const options = months.map((value) => ({ value, label: monthName(`${value}-01`) }));
  const show = async (values: { readonly text: (name: string) => string }) => {
    const other = values.text('beside');
    const search = { ...shown, month: values.text('month'), beside: other === '' ? undefined : other };
    await navigate({ to: '/sites/$siteId/statistics', params: { siteId }, search });
  };
  return (
    <Page title={statistics.title} lead={statistics.lead}>
      <nav className="choice" aria-label={statistics.by}>
        {BREAKDOWNS.map((one) => (
          <Link
            key={one}
            to="/sites/$siteId/statistics"
            params={{ siteId }}
            search={{ ...shown, by: one }}
            className="chip"
            aria-current={one === by ? 'true' : undefined}
          >
            {statistics.bys[one]}
          </Link>
        ))}
      </nav>
      <ActionForm submit={statistics.show} isInline action={show}>
        <SelectInput name="month" label={statistics.month} options={options} defaultValue={month} />
        <SelectInput
          name="beside"
          label={statistics.beside}
          options={[{ value: '', label: statistics.noMonth }, ...options]}
          defaultValue={beside ?? ''}
        />
      </ActionForm>
      <Months siteId={siteId} by={by} month={month} beside={beside} />
      <Section title={statistics.limits}>
        <ul className="list">
          {Object.values(statistics.limitTexts).map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </Section>
    </Page>
  );
}

interface MonthsProps {
  readonly siteId: string;
  readonly by: Breakdown['by'];
  readonly month: string;
  readonly beside: string | undefined;
}

/** The table of a month; each cell has the number of the other month below its own. */
function Months({ siteId, by, month, beside }: MonthsProps) {
  const { statistics } = useMessages();
  const { month: monthName } = useFormats();
  const shown = useBreakdown(siteId, by, month);
  const other = useBreakdown(siteId, by, beside);
  const nameOf = (one: string) => monthName(`${one}-01`);
  return (
    <Section title={nameOf(month)} {...(beside !== undefined && { lead: statistics.below(nameOf(beside)) })}>
      <Loaded query={shown}>
        {(data) =>
          beside === undefined ? (
            <Counts months={[data]} />
          ) : (
            <Loaded query={other}>{(before) => <Counts months={[data, before]} />}</Loaded>
          )
        }
      </Loaded>
    </Section>
  );
}

function useBreakdown(siteId: string, by: Breakdown['by'], month: string | undefined) {
  const api = useApi();
  return useQuery({
    queryKey: ['breakdown', siteId, by, month],
    enabled: month !== undefined,
    queryFn: () => {
      const query = { by, month: month ?? '' };
      return dataOf(api.GET('/api/v1/sites/{site_id}/statistics', { params: { path: { site_id: siteId }, query } }));
    },
  });
}

function Counts({ months }: { readonly months: readonly [Breakdown, ...Breakdown[]] }) {
  const messages = useMessages();
  const { statistics } = messages;
  const formats = useFormats();
  const [{ by, month }] = months;
  const [shown, other] = months.map((one) => tableOf(one, messages, formats));
  const rows = shown === undefined ? [] : rowsBeside(shown, other);
  if (shown === undefined || rows.length === 0) return <p>{statistics.none}</p>;
  const save = () => {
    const lines = months.flatMap((one) =>
      tableOf(one, messages, formats).rows.map(({ cells }) => [one.month, ...cells]),
    );
    const csv = csvOf([[statistics.month, ...shown.headings], ...lines]);
    saveAs(`consents-${months.map((one) => one.month).join('-')}-${by}.csv`, new Blob([csv], { type: 'text/csv' }));
  };
  const isHidden = rows.some(({ cells }) => cells.flat().includes(statistics.hidden));
  return (
    <>
      <Table
        label={`${statistics.bys[by]}, ${formats.month(`${month}-01`)}`}
        items={rows}
        keyOf={({ value }) => value}
        columns={shown.headings.map((label, place) => ({
          label,
          ...(place > 0 && { phone: 'labelled' as const }),
          cell: ({ cells }: (typeof rows)[number]) => {
            const [now = '', then] = cells[place] ?? [];
            return then === undefined || place === 0 ? (
              now
            ) : (
              <>
                {now}
                <br />
                <span className="hint">{then}</span>
              </>
            );
          },
        }))}
      />
      {isHidden ? <p className="hint">{statistics.hiddenHint}</p> : null}
      <div className="actions">
        <Button onPress={save}>{statistics.save}</Button>
      </div>
    </>
  );
}
