import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Section } from '../../ui/page.js';
import { ConsentTable } from './consent-table.js';
import { Erase, ExportPerson } from './person-actions.js';
import { type Searched, usePersonPages } from './searched-person.js';
import { oldestFirst } from './state-at.js';
import { StateSection } from './state-section.js';

/** Maximum number of records that one export may name. */
const MOST_RECORDS = 1000;

interface PersonResultsProps {
  readonly siteId: string;
  readonly searched: Searched;
}

/** The history of one person, oldest first, what was in force at a time, and the actions for that person. */
export function PersonResults({ siteId, searched }: PersonResultsProps) {
  const { consents } = useMessages();
  const { number } = useFormats();
  const { person } = searched;
  const query = usePersonPages(siteId, searched);
  const { data, hasNextPage, isFetching, fetchNextPage } = query;
  const count = data?.length ?? 0;
  // The history and the state need all records of the person.
  const isReading = hasNextPage && count < MOST_RECORDS;
  useEffect(() => {
    if (isReading && !isFetching) void fetchNextPage();
  }, [isReading, isFetching, fetchNextPage]);
  return (
    <Section
      title={consents.personFound}
      actions={
        <Link className="button" to="/sites/$siteId/consents" params={{ siteId }} search={{}}>
          {consents.endSearch}
        </Link>
      }
    >
      <p role="status">
        {consents.bys[person.by]}: <strong>{person.value}</strong>
        {isReading || count === 0 ? null : ` (${consents.recordCount(number(count))})`}
      </p>
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <p>{consents.noneFound}</p>
          ) : (
            <>
              <div className="actions">
                {person.by === 'visitor_id' ? (
                  <ExportPerson siteId={siteId} filter={{ visitor_id: person.value }} about={person.value} />
                ) : hasNextPage || items.length > MOST_RECORDS ? null : (
                  <ExportPerson siteId={siteId} filter={{ records: items.map(({ id }) => id) }} about={person.value} />
                )}
                {isReading ? null : (
                  <Erase siteId={siteId} subject={person}>
                    {consents.bys[person.by]}: <strong>{person.value}</strong>.{' '}
                    {hasNextPage
                      ? consents.moreRecordsLose(number(items.length))
                      : consents.recordsLose(number(items.length))}
                  </Erase>
                )}
              </div>
              {hasNextPage ? null : <StateSection siteId={siteId} items={items} />}
              <h3>{consents.historyTitle}</h3>
              <ConsentTable siteId={siteId} items={oldestFirst(items)} filters={{ person: 'searched' }} />
            </>
          )
        }
      </Loaded>
      {isReading ? null : <More query={query} />}
    </Section>
  );
}
