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
import { tableOf } from './breakdown-table.js';
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
      <div className="card">
        <ActionForm submit={statistics.show} isInline action={show}>
          <SelectInput name="month" label={statistics.month} options={options} defaultValue={month} />
          <SelectInput
            name="beside"
            label={statistics.beside}
            options={[{ value: '', label: statistics.noMonth }, ...options]}
            defaultValue={beside ?? ''}
          />
        </ActionForm>
      </div>
      <div className={beside === undefined ? undefined : 'columns'}>
        <Month siteId={siteId} by={by} month={month} />
        {beside === undefined ? null : <Month siteId={siteId} by={by} month={beside} />}
      </div>
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

interface MonthProps {
  readonly siteId: string;
  readonly by: Breakdown['by'];
  readonly month: string;
}

function Month({ siteId, by, month }: MonthProps) {
  const { statistics } = useMessages();
  const { month: monthName } = useFormats();
  const api = useApi();
  const query = useQuery({
    queryKey: ['breakdown', siteId, by, month],
    queryFn: () =>
      dataOf(
        api.GET('/api/v1/sites/{site_id}/statistics', { params: { path: { site_id: siteId }, query: { by, month } } }),
      ),
  });
  return (
    <Section title={monthName(`${month}-01`)}>
      <Loaded query={query}>
        {(data) => (data.rows.length === 0 ? <p>{statistics.none}</p> : <Counts breakdown={data} />)}
      </Loaded>
    </Section>
  );
}

function Counts({ breakdown }: { readonly breakdown: Breakdown }) {
  const messages = useMessages();
  const { statistics } = messages;
  const formats = useFormats();
  const { headings, rows } = tableOf(breakdown, messages, formats);
  const { by, month } = breakdown;
  const save = () => {
    const csv = csvOf([headings, ...rows.map(({ cells }) => cells)]);
    saveAs(`consents-${month}-${by}.csv`, new Blob([csv], { type: 'text/csv' }));
  };
  const isHidden = rows.some(({ cells }) => cells.includes(statistics.hidden));
  return (
    <>
      <Table
        label={`${statistics.bys[by]}, ${formats.month(`${month}-01`)}`}
        items={rows}
        keyOf={({ value }) => value}
        columns={headings.map((label, place) => ({
          label,
          ...(place > 0 && { phone: 'labelled' as const }),
          cell: ({ cells }: (typeof rows)[number]) => cells[place] ?? '',
        }))}
      />
      {isHidden ? <p className="hint">{statistics.hiddenHint}</p> : null}
      <Button onPress={save}>{statistics.save}</Button>
    </>
  );
}
