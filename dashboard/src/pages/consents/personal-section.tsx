import { useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { Attachment, ConsentDetails } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { Confirm } from '../../ui/confirm.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { Facts } from '../../ui/table.js';
import { useAction } from '../../ui/use-action.js';
import { DisclosedFile } from './disclosed-file.js';
import { DrawnQuestion } from './drawn-question.js';
import { filtersOf } from './filters.js';
import { Erase, ExportPerson } from './person-actions.js';
import { ReasonInput, useKeepReason } from './reason.js';
import { useSearched, useSearchPerson } from './searched-person.js';
import { givenAt } from './state-at.js';

type Fields = Readonly<Record<string, unknown>>;

interface Values {
  /** Why they were disclosed. */
  readonly reason: string;
  readonly fields: Fields;
  readonly attachments: readonly Attachment[];
}

interface PersonalSectionProps {
  readonly siteId: string;
  readonly consent: ConsentDetails;
}

/** Discloses and erases the personal values of a record. */
export function PersonalSection({ siteId, consent }: PersonalSectionProps) {
  const { consents } = useMessages();
  const { moment } = useFormats();
  const api = useApi();
  const search = useSearchPerson(siteId);
  const [values, setValues] = useState<Values | null>(null);
  const keepReason = useKeepReason();
  const searched = useSearched(siteId);
  const isOfSearched = filtersOf(useSearch({ strict: false })).person !== undefined;
  const about = (isOfSearched ? searched?.person.value : undefined) ?? consent.id;
  const disclose = useAction((because: string) =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/consents/{consent_id}/disclose', {
        params: { path: { site_id: siteId, consent_id: consent.id } },
        body: { fields: 'all', reason: because },
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
  const visitorId = values?.fields.visitor_id;
  return (
    <Section title={consents.personTitle} lead={consents.personText}>
      {values === null ? null : <Disclosed fields={values.fields} attachments={values.attachments} />}
      {values === null || consent.record === null ? null : (
        <DrawnQuestion
          siteId={siteId}
          record={consent.record}
          slug={consent.document_slug}
          presentation={values.fields.presentation}
        />
      )}
      <div className="actions">
        {values === null ? (
          <Confirm
            label={consents.disclose}
            isDanger={false}
            action={async (form) => {
              const reason = form.text('reason');
              const disclosed = await disclose(reason);
              keepReason(reason, about, consent.id);
              setValues({ ...disclosed, reason });
            }}
          >
            <Notice kind="info">
              <p>{consents.discloseText}</p>
            </Notice>
            <ReasonInput about={about} />
          </Confirm>
        ) : null}
        {typeof visitorId === 'string' ? (
          <>
            <Button onPress={() => search({ by: 'visitor_id', value: visitorId }, values?.reason ?? '')}>
              {consents.history}
            </Button>
            <ExportPerson siteId={siteId} filter={{ visitor_id: visitorId }} about={about} />
          </>
        ) : null}
        <Erase siteId={siteId} subject={{ by: 'record', value: consent.id }}>
          {consents.record}: <strong>{consent.record === null ? consent.id : moment(givenAt(consent.record))}</strong>
          {typeof visitorId === 'string' ? (
            <>
              . {consents.bys.visitor_id}: <strong>{visitorId}</strong>
            </>
          ) : null}
          . {consents.recordsLose('1')} {consents.moreOfPerson}
        </Erase>
      </div>
    </Section>
  );
}

function Disclosed({ fields, attachments }: Omit<Values, 'reason'>) {
  const { consents } = useMessages();
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The button that opened them, and had the focus, is gone.
    box.current?.focus();
  }, []);
  return (
    <div ref={box} tabIndex={-1}>
      {given.length === 0 ? (
        <p>{consents.noValues}</p>
      ) : (
        <Facts
          items={given.map(([name, value]) => [
            consents.fields[name] ?? name,
            <Value key={name} name={name} value={value} attachments={attachments} />,
          ])}
        />
      )}
    </div>
  );
}

interface ValueProps extends Pick<Values, 'attachments'> {
  readonly name: string;
  readonly value: unknown;
}

function Value({ name, value, attachments }: ValueProps) {
  const { consents } = useMessages();
  if (typeof value !== 'string') return <code>{JSON.stringify(value)}</code>;
  const attachment = attachments.find(({ field }) => field === name);
  if (attachment === undefined) return value;
  return <DisclosedFile content={value} attachment={attachment} label={consents.fields[name] ?? name} />;
}
