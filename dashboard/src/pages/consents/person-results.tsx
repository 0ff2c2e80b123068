import type { PersonReference } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Section } from '../../ui/page.js';
import { usePages } from '../../ui/use-pages.js';
import { ConsentTable } from './consent-table.js';
import { ErasePerson, ExportPerson } from './person-actions.js';

/** Most records that one export may name. */
const MOST_RECORDS = 1000;

interface PersonResultsProps {
  readonly siteId: string;
  readonly person: PersonReference;
  /** Number of the search: the same person can be searched for again. */
  readonly search: number;
  readonly onEnd: () => void;
}

/** The records of one person, and the actions for that person. */
export function PersonResults({ siteId, person, search, onEnd }: PersonResultsProps) {
  const { consents } = useMessages();
  const api = useApi();
  const query = usePages(
    ['person', siteId, person, search],
    (cursor) =>
      api.POST('/api/v1/sites/{site_id}/consents/search', {
        params: { path: { site_id: siteId } },
        body: { person, limit: 25, ...(cursor !== undefined && { cursor }) },
      }),
    () => false,
    { isOnRequest: true },
  );
  return (
    <Section title={consents.personFound} actions={<Button onPress={onEnd}>{consents.endSearch}</Button>}>
      <p>
        {consents.bys[person.by]}: <strong>{person.value}</strong>
      </p>
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <p>{consents.noneFound}</p>
          ) : (
            <>
              <div className="actions">
                {person.by === 'visitor_id' ? (
                  <ExportPerson siteId={siteId} filter={{ visitor_id: person.value }} />
                ) : query.hasNextPage || items.length > MOST_RECORDS ? null : (
                  <ExportPerson siteId={siteId} filter={{ records: items.map(({ id }) => id) }} />
                )}
                <ErasePerson siteId={siteId} person={person} />
              </div>
              <ConsentTable siteId={siteId} items={items} />
            </>
          )
        }
      </Loaded>
      <More query={query} />
    </Section>
  );
}
