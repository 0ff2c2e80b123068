import { useState } from 'react';
import { useMessages } from '../../i18n/locale.js';
import { Breakable } from '../../ui/breakable.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Page, Section } from '../../ui/page.js';
import { Shown } from '../../ui/shown.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { Actor, Details, Subject } from './entry-cells.js';
import { FilterForm } from './filter-form.js';
import { NO_FILTERS } from './filters.js';
import { SaveEntries } from './save-entries.js';
import { useEntries } from './use-entries.js';

/** The audit log of the organisation. */
export function AuditLog() {
  const { audit, common } = useMessages();
  const [filters, setFilters] = useState(NO_FILTERS);
  const query = useEntries(filters);
  return (
    <Page title={audit.title} lead={audit.lead}>
      <Section title={audit.list} actions={<SaveEntries filters={filters} />}>
        {/* “Clear” and “Last 7 days” set the fields, too. */}
        <FilterForm key={`${filters === NO_FILTERS} ${filters.from}`} filters={filters} onChange={setFilters} />
        <Shown count={query.data?.length} isMore={query.hasNextPage} filters={JSON.stringify(filters)} />
        <Loaded query={query}>
          {(items) =>
            items.length === 0 ? (
              <p>{audit.none}</p>
            ) : (
              <Table
                label={audit.list}
                items={items}
                keyOf={({ entry }) => String(entry.seq)}
                columns={[
                  { label: common.time, cell: ({ entry }) => <Time at={entry.at} /> },
                  {
                    label: audit.action,
                    cell: ({ entry }) => audit.actions[entry.action] ?? <Breakable text={entry.action} />,
                  },
                  { label: audit.actor, phone: 'labelled', cell: (one) => <Actor {...one} /> },
                  { label: audit.subject, phone: 'labelled', cell: (one) => <Subject {...one} /> },
                  {
                    label: audit.details,
                    cell: (one) => (Object.keys(one.entry.details).length === 0 ? '' : <Details {...one} />),
                  },
                ]}
              />
            )
          }
        </Loaded>
        <More query={query} isCounted />
      </Section>
    </Page>
  );
}
