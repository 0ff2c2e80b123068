import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { PersonReference } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { Button } from '../../ui/button.js';
import { SelectInput, TextInput } from '../../ui/fields.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Empty, Page, Section } from '../../ui/page.js';
import { usePages } from '../../ui/use-pages.js';
import { useSiteId } from '../sites/use-site.js';
import { ConsentTable } from './consent-table.js';
import { CHANNELS, DECISIONS, type Filters, filtersOf, isFiltered, queryOf } from './filters.js';
import { PersonResults } from './person-results.js';
import { PersonSearch } from './person-search.js';

const PAGE_SIZE = 25;

/** The records of a site. */
export function Consents() {
  const { consents } = useMessages();
  const siteId = useSiteId();
  const maySearch = useMay('seePersonalData');
  // Not in the address: addresses are logged and kept.
  const [searched, setSearched] = useState<{ readonly person: PersonReference; readonly search: number } | null>(null);
  const [searches, setSearches] = useState(0);
  return (
    <Page key={siteId} title={consents.title} lead={consents.lead}>
      {maySearch ? (
        <PersonSearch
          onSearch={(person) => {
            setSearched({ person, search: searches });
            setSearches(searches + 1);
          }}
        />
      ) : null}
      {searched === null ? (
        <AllConsents siteId={siteId} />
      ) : (
        <PersonResults siteId={siteId} {...searched} onEnd={() => setSearched(null)} />
      )}
    </Page>
  );
}

function AllConsents({ siteId }: { readonly siteId: string }) {
  const { consents, shell } = useMessages();
  const api = useApi();
  const filters = filtersOf(useSearch({ strict: false }));
  const query = usePages(
    ['consents', siteId, filters],
    (cursor) =>
      api.GET('/api/v1/sites/{site_id}/consents', {
        params: { path: { site_id: siteId }, query: { ...queryOf(filters), limit: PAGE_SIZE, cursor } },
      }),
    // Sooner while a record waits for its time stamp.
    (items) => (items.some(({ state }) => state !== 'stamped') ? 3000 : 15_000),
  );
  return (
    <Section title={consents.list}>
      <FilterForm key={JSON.stringify(filters)} siteId={siteId} filters={filters} />
      <Loaded query={query}>
        {(items) => {
          if (items.length > 0) return <ConsentTable siteId={siteId} items={items} />;
          if (isFiltered(filters)) return <p>{consents.noneFound}</p>;
          return (
            <Empty title={consents.emptyTitle}>
              <p>{consents.emptyText}</p>
              <Link to="/sites/$siteId/api" params={{ siteId }}>
                {shell.apiSettings}
              </Link>
            </Empty>
          );
        }}
      </Loaded>
      <More query={query} />
    </Section>
  );
}

interface FilterFormProps {
  readonly siteId: string;
  readonly filters: Filters;
}

function FilterForm({ siteId, filters }: FilterFormProps) {
  const { consents } = useMessages();
  const navigate = useNavigate();
  const show = (search: Filters) => navigate({ to: '/sites/$siteId/consents', params: { siteId }, search });
  return (
    <details open={isFiltered(filters)}>
      <summary>{consents.filters}</summary>
      <ActionForm
        submit={consents.apply}
        isInline
        action={async (values) => {
          const names = ['from', 'to', 'type', 'decision', 'channel', 'category'];
          await show(filtersOf(Object.fromEntries(names.map((name) => [name, values.text(name)]))));
        }}
      >
        <TextInput name="from" type="date" label={consents.from} defaultValue={filters.from ?? ''} />
        <TextInput name="to" type="date" label={consents.to} defaultValue={filters.to ?? ''} />
        <TextInput name="type" label={consents.type} defaultValue={filters.type ?? ''} />
        <SelectInput
          name="decision"
          label={consents.decision}
          defaultValue={filters.decision ?? ''}
          options={[
            { value: '', label: consents.allDecisions },
            ...DECISIONS.map((value) => ({ value, label: consents.decisions[value] })),
          ]}
        />
        <SelectInput
          name="channel"
          label={consents.channel}
          defaultValue={filters.channel ?? ''}
          options={[
            { value: '', label: consents.allChannels },
            ...CHANNELS.map((value) => ({ value, label: consents.channels[value] })),
          ]}
        />
        <TextInput name="category" label={consents.category} defaultValue={filters.category ?? ''} />
        {isFiltered(filters) ? <Button onPress={() => show({})}>{consents.clear}</Button> : null}
      </ActionForm>
    </details>
  );
}
