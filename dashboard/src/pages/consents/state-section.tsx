import { Link } from '@tanstack/react-router';
import { useId, useState } from 'react';
import type { ConsentSummary } from '../../api/types.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Badge } from '../../ui/badge.js';
import { Notice } from '../../ui/notice.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { DocumentName } from './document-name.js';
import { actText, decisionLook } from './filters.js';
import { alteredAmong, givenAt, type StateOfSubject, stateAt } from './state-at.js';
import { useDecided } from './use-shown-configuration.js';

interface StateSectionProps {
  readonly siteId: string;
  /** All records of the person. */
  readonly items: readonly ConsentSummary[];
}

/** The state of a person at a chosen time. */
export function StateSection({ siteId, items }: StateSectionProps) {
  const { consents } = useMessages();
  const { number } = useFormats();
  const id = useId();
  const [chosen, setChosen] = useState('');
  const time = chosen === '' ? Date.now() : new Date(chosen).getTime();
  const altered = alteredAmong(items);
  const found = Number.isNaN(time) ? [] : stateAt(items, time);
  return (
    <div className="stack">
      <h3>{consents.stateTitle}</h3>
      {/* An altered withdrawal must not leave an earlier permission in force without a word. */}
      {altered === 0 ? null : (
        <Notice kind="problem">
          <p>{consents.stateAltered(number(altered))}</p>
        </Notice>
      )}
      <div className="field state-time">
        <label className="label" htmlFor={id}>
          {consents.stateAsOf}
        </label>
        <input
          id={id}
          type="datetime-local"
          step={1}
          className="input"
          value={chosen}
          onChange={({ target }) => setChosen(target.value)}
          aria-describedby={`${id}-hint`}
        />
        <span className="hint" id={`${id}-hint`}>
          {consents.stateHint(Intl.DateTimeFormat().resolvedOptions().timeZone)}
        </span>
      </div>
      <div role="status">
        {found.length === 0 ? <p>{consents.stateNone}</p> : <StateTable siteId={siteId} items={found} />}
      </div>
    </div>
  );
}

interface StateTableProps {
  readonly siteId: string;
  readonly items: readonly StateOfSubject[];
}

function StateTable({ siteId, items }: StateTableProps) {
  const { consents } = useMessages();
  return (
    <Table
      label={consents.stateTitle}
      items={items}
      keyOf={({ id }) => id}
      columns={[
        { label: consents.type, cell: ({ record }) => record.consent_type },
        {
          label: consents.document,
          cell: ({ record, documentSlug }) => <DocumentName siteId={siteId} record={record} slug={documentSlug} />,
        },
        {
          label: consents.decision,
          cell: ({ record, state }) =>
            state === 'expired' ? (
              <Badge kind="neutral">{consents.expired}</Badge>
            ) : (
              <Badge kind={decisionLook(record)}>{actText(record, consents)}</Badge>
            ),
        },
        {
          label: consents.granted,
          phone: 'labelled',
          cell: (item) => <Names siteId={siteId} item={item} isGranted />,
        },
        {
          label: consents.refused,
          phone: 'labelled',
          cell: (item) => <Names siteId={siteId} item={item} isGranted={false} />,
        },
        {
          label: consents.since,
          phone: 'labelled',
          cell: ({ id, record }) => (
            <Link
              to="/sites/$siteId/consents/$consentId"
              params={{ siteId, consentId: id }}
              search={{ person: 'searched' }}
            >
              <Time at={givenAt(record)} isExact />
            </Link>
          ),
        },
      ]}
    />
  );
}

interface NamesProps {
  readonly siteId: string;
  readonly item: StateOfSubject;
  readonly isGranted: boolean;
}

/** What the person permits, or what not. What is always on is neither. */
function Names({ siteId, item: { record, state }, isGranted }: NamesProps) {
  const { list } = useFormats();
  const decided = useDecided(siteId, record).filter((one) => one.isGranted === isGranted && !one.isAlwaysOn);
  return state === 'in_force' ? list(decided.map(({ name }) => name)) : '';
}
