import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMay } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { SelectInput, TextInput } from '../../ui/fields.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Empty, Page, Section } from '../../ui/page.js';
import { Shown } from '../../ui/shown.js';
import { useSiteId } from '../sites/use-site.js';
import { ConsentTable } from './consent-table.js';
import { FilterChips } from './filter-chips.js';
import { CHANNELS, DECISIONS, type Filters, filtersOf, isFiltered } from './filters.js';
import { PersonResults } from './person-results.js';
import { PersonSearch } from './person-search.js';
import { useSearched, useSearchPerson } from './searched-person.js';
import { useConsentPages } from './use-consent-pages.js';

/** The records of a site. */
export function Consents() {
  const { consents } = useMessages();
  const siteId = useSiteId();
  const maySearch = useMay('seePersonalData');
  const search = useSearchPerson(siteId);
  const searched = useSearched(siteId);
  const filters = filtersOf(useSearch({ strict: false }));
  return (
    <Page key={siteId} title={consents.title} lead={consents.lead}>
      {maySearch ? <PersonSearch onSearch={search} /> : null}
      {searched === null || filters.person === undefined ? (
        <AllConsents siteId={siteId} filters={{ ...filters, person: undefined }} />
      ) : (
        <PersonResults siteId={siteId} searched={searched} />
      )}
    </Page>
  );
}

function AllConsents({ siteId, filters }: FilterFormProps) {
  const { consents, shell } = useMessages();
  const query = useConsentPages(siteId, filters, (items) =>
    // More often while a record waits for its time stamp.
    items.some(({ state }) => state !== 'stamped') ? 3000 : 15_000,
  );
  return (
    <Section title={consents.list}>
      <FilterForm key={JSON.stringify(filters)} siteId={siteId} filters={filters} />
      <FilterChips siteId={siteId} filters={filters} />
      <Shown count={query.data?.length} isMore={query.hasNextPage} filters={JSON.stringify(filters)} />
      <Loaded query={query}>
        {(items) => {
          if (items.length > 0) return <ConsentTable siteId={siteId} items={items} filters={filters} />;
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
      <More query={query} isCounted />
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
    <details>
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
      </ActionForm>
    </details>
  );
}
