import { useQuery } from '@tanstack/react-query';
import { dataOf } from '../../api/client.js';
import { failureOf } from '../../api/failure.js';
import type { ConsentDetails } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { Loaded } from '../../ui/loaded.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { saveAs } from '../../ui/save-as.js';
import { Time } from '../../ui/time.js';
import { proofOf } from './filters.js';

interface ProofSectionProps {
  readonly siteId: string;
  readonly consent: ConsentDetails;
}

/** Proof of the record, in words, and its receipt. */
export function ProofSection({ siteId, consent }: ProofSectionProps) {
  const { consents } = useMessages();
  const { number, list } = useFormats();
  const api = useApi();
  const query = useQuery({
    queryKey: ['verify', siteId, consent.id, consent.state],
    queryFn: () =>
      dataOf(
        api.GET('/api/v1/sites/{site_id}/consents/{consent_id}/verify', {
          params: { path: { site_id: siteId, consent_id: consent.id } },
        }),
      ),
  });
  const { checkpoint, batch } = consent.sealing;
  return (
    <Section title={consents.proofTitle}>
      <p>
        {consents.statesLong[proofOf(consent)]} {checkpoint === null ? null : <Time at={checkpoint.gen_time} />}
      </p>
      {checkpoint === null ? null : (
        <p>
          {consents.authority}: {list(checkpoint.authorities)}
        </p>
      )}
      <Loaded query={query}>
        {({ hash_valid, merkle_valid }) => (
          <Notice kind={hash_valid && merkle_valid !== false ? 'good' : 'problem'}>
            <p>{consents.checked}</p>
            <ul className="list">
              <li>{hash_valid ? consents.intact : consents.notIntact}</li>
              {merkle_valid === null || batch === null ? null : (
                <li>{merkle_valid ? consents.inLedger(number(batch)) : consents.notInLedger}</li>
              )}
            </ul>
          </Notice>
        )}
      </Loaded>
      {consent.state === 'stamped' ? (
        <>
          <p>
            {consents.receiptText} <a href="/verify">{consents.verifierPage}</a>
          </p>
          <p>
            {/* The verifier makes every certificate. */}
            <a
              className="button"
              href={`/verify#${consent.consent_token}&certificate`}
              target="_blank"
              rel="noreferrer"
            >
              {consents.certificate}
            </a>{' '}
            {consents.certificateText}
          </p>
          <ActionForm submit={consents.receipt} action={() => saveReceipt(consent.consent_token)}>
            {null}
          </ActionForm>
        </>
      ) : null}
    </Section>
  );
}

/** The receipt is public to everyone who has the token. */
async function saveReceipt(token: string): Promise<void> {
  const response = await fetch(`/api/v1/public/consents/${encodeURIComponent(token)}/receipt`);
  if (!response.ok) throw failureOf(response.status, await response.json().catch(() => undefined));
  saveAs(`consent-receipt-${token}.json`, await response.blob());
}
