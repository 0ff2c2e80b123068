import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { dataOf } from '../../api/client.js';
import type { ConsentDetails, PublicRecord } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Badge } from '../../ui/badge.js';
import { LoadedPage } from '../../ui/loaded-page.js';
import { Page, Section } from '../../ui/page.js';
import { Facts } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { decidedText, whereOf } from '../banner/rule-words.js';
import { useSiteId } from '../sites/use-site.js';
import { actText, decisionLook } from './filters.js';
import { PersonalSection } from './personal-section.js';
import { ProofSection } from './proof-section.js';
import { RecordLinks } from './record-links.js';
import { ruleInForce } from './rule-in-force.js';
import { ShownSection } from './shown-section.js';
import { givenAt } from './state-at.js';
import { useDecided, useShownConfiguration } from './use-shown-configuration.js';
import { useShownVersion } from './use-shown-version.js';

/** One record: the decision, the words of text and banner, its proof, and its personal values. */
export function Consent() {
  const { consents } = useMessages();
  const { dateTime } = useFormats();
  const api = useApi();
  const siteId = useSiteId();
  const { consentId = '' } = useParams({ strict: false });
  const maySeePersonal = useMay('seePersonalData');
  const query = useQuery({
    queryKey: ['consent', siteId, consentId],
    queryFn: () =>
      dataOf(
        api.GET('/api/v1/sites/{site_id}/consents/{consent_id}', {
          params: { path: { site_id: siteId, consent_id: consentId } },
        }),
      ),
    // Until the record has its time stamp.
    refetchInterval: ({ state }) => (state.data?.state === 'stamped' ? false : 5000),
  });
  return (
    <LoadedPage
      query={query}
      back={
        <Link to="/sites/$siteId/consents" params={{ siteId }}>
          {consents.title}
        </Link>
      }
    >
      {(consent) => (
        <Page
          // The disclosed values of one record must not stay on the page of the next.
          key={consent.id}
          title={
            consent.record === null
              ? consents.record
              : `${actText(consent.record, consents)}, ${dateTime(givenAt(consent.record))}`
          }
        >
          <RecordLinks siteId={siteId} consentId={consent.id} />
          {consent.record === null ? null : (
            <>
              <DecisionSection siteId={siteId} consent={consent} record={consent.record} />
              <ShownSection siteId={siteId} record={consent.record} slug={consent.document_slug} />
            </>
          )}
          <ProofSection siteId={siteId} consent={consent} />
          {maySeePersonal ? <PersonalSection siteId={siteId} consent={consent} /> : null}
        </Page>
      )}
    </LoadedPage>
  );
}

interface DecisionSectionProps {
  readonly siteId: string;
  readonly consent: ConsentDetails;
  readonly record: PublicRecord;
}

function DecisionSection({ siteId, consent, record }: DecisionSectionProps) {
  const { consents, rules } = useMessages();
  const { date, languageName, list, locale } = useFormats();
  const inForce = ruleInForce(record, useShownConfiguration(siteId, record.site_config_hash).data);
  const text = useShownVersion(siteId, consent.document_slug, record.document_version_id);
  const decided = useDecided(siteId, record);
  const inZone = (label: string) => `${label} (${Intl.DateTimeFormat().resolvedOptions().timeZone})`;
  return (
    <Section title={consents.decision}>
      <Facts
        items={[
          [
            consents.decision,
            <span className="actions" key="decision">
              <Badge kind={decisionLook(record)}>{actText(record, consents)}</Badge>
              {consent.is_expired ? <Badge kind="neutral">{consents.expired}</Badge> : null}
              {consent.is_anonymized ? <Badge kind="neutral">{consents.erased}</Badge> : null}
            </span>,
          ],
          ...decided.map(
            ({ name, isService, isGranted, isAlwaysOn }) =>
              [
                isService ? name : consents.categoryNamed(name),
                isAlwaysOn ? consents.alwaysOn : isGranted ? consents.granted : consents.refused,
              ] as const,
          ),
          [consents.type, record.consent_type],
          ...(Object.keys({ ...record.categories, ...record.services }).length > 0 || text.data === undefined
            ? []
            : [[consents.purpose, text.data.title] as const]),
          ...(record.import == null
            ? [[inZone(consents.when), <Time key="when" at={record.created_at} isExact />] as const]
            : [
                [inZone(consents.claimedAt), <Time key="claimed" at={record.import.claimed_at} isExact />] as const,
                [inZone(consents.importedAt), <Time key="when" at={record.created_at} isExact />] as const,
              ]),
          [consents.until, record.valid_until === null ? consents.unlimited : date(record.valid_until)],
          [consents.language, languageName(record.language)],
          [consents.law, lawText(record, inForce, consents.laws)],
          ...(inForce === null
            ? []
            : [
                [
                  consents.rule,
                  <span className="stack-tight" key="rule">
                    <code>{inForce.id}</code>
                    {inForce.rule === undefined ? null : (
                      <>
                        <span>{list(whereOf(inForce.rule, consents.laws, locale))}</span>
                        {Object.entries(inForce.rule.categories).map(([key, one]) => (
                          <span key={key}>{`${key}: ${decidedText(one, rules)}`}</span>
                        ))}
                      </>
                    )}
                  </span>,
                ] as const,
              ]),
          [consents.scope, consents.scopes[record.scope]],
          [
            consents.channel,
            record.import == null ? consents.channels[record.channel] : consents.importedFrom(record.import.tool),
          ],
          [
            consents.identity,
            record.identity_assurance === null ? consents.notAttested[record.channel] : consents.attested,
          ],
          [consents.token, <code key="token">{consent.consent_token}</code>],
        ]}
      />
    </Section>
  );
}

/** The law of a record. That of the state stands in where the list of laws has no word for it, or none is stated. */
function lawText(
  { compliance_framework: framework }: PublicRecord,
  inForce: ReturnType<typeof ruleInForce>,
  laws: ReturnType<typeof useMessages>['consents']['laws'],
): string {
  const stated = laws[framework ?? 'unknown'];
  return framework == null || framework === 'none' ? (inForce?.law ?? stated) : stated;
}
