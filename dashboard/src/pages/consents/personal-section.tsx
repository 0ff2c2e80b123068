import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { ConsentDetails } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { Confirm } from '../../ui/confirm.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { Facts } from '../../ui/table.js';
import { useAction } from '../../ui/use-action.js';
import { ErasePerson, ExportPerson } from './person-actions.js';

type Fields = Readonly<Record<string, unknown>>;

interface PersonalSectionProps {
  readonly siteId: string;
  readonly consent: ConsentDetails;
}

/** Discloses and erases the personal values of a record. */
export function PersonalSection({ siteId, consent }: PersonalSectionProps) {
  const { consents } = useMessages();
  const api = useApi();
  const [fields, setFields] = useState<Fields | null>(null);
  const disclose = useAction(() =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/consents/{consent_id}/disclose', {
        params: { path: { site_id: siteId, consent_id: consent.id } },
        body: { fields: 'all' },
      }),
    ),
  );
  if (consent.is_anonymized) {
    return (
      <Section title={consents.personTitle}>
        <p>{consents.erasedText}</p>
      </Section>
    );
  }
  const visitorId = fields?.visitor_id;
  return (
    <Section title={consents.personTitle} lead={consents.personText}>
      {fields === null ? null : <Disclosed fields={fields} />}
      <div className="actions">
        {fields === null ? (
          <Confirm
            label={consents.disclose}
            isDanger={false}
            action={async () => setFields((await disclose(undefined)).fields)}
          >
            <Notice kind="info">
              <p>{consents.discloseText}</p>
            </Notice>
          </Confirm>
        ) : null}
        {typeof visitorId === 'string' ? (
          <>
            <ExportPerson siteId={siteId} visitorId={visitorId} />
            <ErasePerson siteId={siteId} person={{ by: 'visitor_id', value: visitorId }} />
          </>
        ) : null}
        <ErasePerson siteId={siteId} person={{ by: 'record', value: consent.id }} />
      </div>
    </Section>
  );
}

function Disclosed({ fields }: { readonly fields: Fields }) {
  const { consents } = useMessages();
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  if (given.length === 0) return <p>{consents.noValues}</p>;
  return (
    <Facts
      items={given.map(([name, value]) => [
        consents.fields[name] ?? name,
        typeof value === 'string' ? value : <code key={name}>{JSON.stringify(value)}</code>,
      ])}
    />
  );
}
