import { Link } from '@tanstack/react-router';
import type { ConsentSummary } from '../../api/types.js';
import { useMay } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { Badge } from '../../ui/badge.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { DocumentName } from './document-name.js';
import { actText, decisionLook, type Filters, proofLook, proofOf } from './filters.js';
import { rowOf } from './record-links.js';
import { RevealPerson } from './reveal-person.js';
import { listedAt } from './state-at.js';

interface ConsentTableProps {
  readonly siteId: string;
  readonly items: readonly ConsentSummary[];
  /** The filters of the list, for the link back from a record. */
  readonly filters: Filters;
}

/** Records as a list. */
export function ConsentTable({ siteId, items, filters }: ConsentTableProps) {
  const { consents } = useMessages();
  // The records of a person need no button that names the person.
  const isHistory = filters.person !== undefined;
  const mayReveal = useMay('seePersonalData') && !isHistory;
  return (
    <Table
      label={consents.list}
      items={items}
      keyOf={({ id }) => id}
      columns={[
        {
          label: isHistory ? consents.given : consents.when,
          cell: ({ id, consent_token, record }) => (
            <Link
              id={rowOf(id)}
              to="/sites/$siteId/consents/$consentId"
              params={{ siteId, consentId: id }}
              search={filters}
            >
              {record === null ? consent_token : <Time at={listedAt(record, isHistory)} isExact />}
            </Link>
          ),
        },
        { label: consents.type, cell: ({ record }) => record?.consent_type ?? '' },
        {
          label: consents.decision,
          cell: ({ record, is_anonymized: isErased }) => (
            <span className="stack-tight">
              {record === null ? null : <Badge kind={decisionLook(record)}>{actText(record, consents)}</Badge>}
              {isErased ? <span className="hint">{consents.erased}</span> : null}
            </span>
          ),
        },
        {
          label: consents.document,
          cell: ({ record, document_slug: slug }) =>
            isHistory && record !== null ? <DocumentName siteId={siteId} record={record} slug={slug} /> : (slug ?? ''),
        },
        {
          label: consents.channel,
          phone: 'hidden',
          cell: ({ record }) => channelText(record, consents),
        },
        { label: consents.proof, cell: (item) => <ConsentState item={item} /> },
        ...(mayReveal
          ? [
              {
                label: consents.personOf,
                phone: 'labelled' as const,
                cell: (item: ConsentSummary) => <RevealPerson siteId={siteId} item={item} />,
              },
            ]
          : []),
      ]}
    />
  );
}

function channelText(record: ConsentSummary['record'], consents: ReturnType<typeof useMessages>['consents']): string {
  if (record === null) return '';
  return record.import == null ? consents.channels[record.channel] : consents.importedFrom(record.import.tool);
}

/** The state of the proof of a record, and its special properties. */
function ConsentState({ item }: { readonly item: ConsentSummary }) {
  const { consents } = useMessages();
  return (
    <span className="actions">
      {item.is_intact ? (
        <Badge kind={proofLook(proofOf(item))}>{consents.states[proofOf(item)]}</Badge>
      ) : (
        <Badge kind="bad">{consents.damaged}</Badge>
      )}
      {item.record?.import == null ? null : <Badge kind="neutral">{consents.channels.import}</Badge>}
      {item.is_expired ? <Badge kind="neutral">{consents.expired}</Badge> : null}
    </span>
  );
}
