import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Radio, RadioGroup } from 'react-aria-components';
import { dataOf } from '../../api/client.js';
import type { DomainVerification, Site } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { Copyable } from '../../ui/copy.js';
import { Loaded } from '../../ui/loaded.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { useAction } from '../../ui/use-action.js';

const WAYS = ['dns', 'file', 'meta'] as const;
type Way = (typeof WAYS)[number];

/** Whether a proof is one that the tenant gives, and not the word of an operator. */
function wayOf(proof: Site['proof']): Way {
  return WAYS.find((way) => way === proof) ?? 'dns';
}

/** The proof that the domain belongs to the tenant. */
export function DomainSection({ site }: { readonly site: Site }) {
  const { sites } = useMessages();
  const isOpen = site.verified_at === null || site.proof_failing_since !== null;
  return (
    <Section title={sites.domainTitle}>
      {site.verified_at === null ? (
        <Notice kind="warning">
          <p>{sites.domainOpen}</p>
        </Notice>
      ) : (
        <Proved site={site} since={site.verified_at} />
      )}
      {isOpen ? <OpenProof site={site} key={site.domain} /> : null}
    </Section>
  );
}

/** The proof in force, and what happens if it is not found any more. */
function Proved({ site, since }: { readonly site: Site; readonly since: string }) {
  const { sites } = useMessages();
  const { date } = useFormats();
  const { domain, proof, proof_failing_since: failingSince } = site;
  return (
    <>
      <Notice kind={failingSince === null ? 'good' : 'info'}>
        <p>
          <strong>{domain}</strong>: {sites.domainProved(date(since))} {proof === null ? null : sites.provedBy[proof]}
        </p>
      </Notice>
      {failingSince === null ? null : (
        <Notice kind="problem">
          <p>{sites.proofMissing(date(failingSince))}</p>
        </Notice>
      )}
    </>
  );
}

function OpenProof({ site }: { readonly site: Site }) {
  const { sites } = useMessages();
  const api = useApi();
  const mayChange = useMay('changeSites');
  const [way, setWay] = useState(wayOf(site.proof));
  const params = { path: { site_id: site.id } };
  const query = useQuery({
    queryKey: ['domain', site.id, site.domain],
    queryFn: () => dataOf(api.GET('/api/v1/sites/{site_id}/domain-verification', { params })),
  });
  const verify = useAction(() =>
    dataOf(api.POST('/api/v1/sites/{site_id}/domain-verification', { params, body: { by: way } })),
  );
  return (
    <Loaded query={query}>
      {(challenges) => (
        <>
          <RadioGroup
            aria-label={sites.ways}
            orientation="horizontal"
            className="choice"
            value={way}
            onChange={(value) => setWay(WAYS.find((one) => one === value) ?? 'dns')}
          >
            {WAYS.map((one) => (
              <Radio key={one} value={one} className="chip">
                {sites.way[one]}
              </Radio>
            ))}
          </RadioGroup>
          <Challenge way={way} challenges={challenges} />
          {mayChange ? (
            <ActionForm key={way} submit={sites.verify} action={() => verify(undefined)} done={sites.nowVerified}>
              {null}
            </ActionForm>
          ) : null}
        </>
      )}
    </Loaded>
  );
}

/** What to copy for one way. */
function Challenge({ way, challenges }: { readonly way: Way; readonly challenges: DomainVerification }) {
  const { sites } = useMessages();
  const { dns_record: record, file, meta_tag: meta } = challenges;
  if (way === 'dns')
    return (
      <>
        <p>{sites.dnsText}</p>
        <Copied label={sites.dnsName} text={record.name} />
        <Copied label={sites.dnsValue} text={record.value} />
      </>
    );
  if (way === 'file')
    return (
      <>
        <p>{sites.fileText}</p>
        <Copied label={sites.fileAddress} text={file.url} />
        <Copied label={sites.fileContent} text={file.content} />
      </>
    );
  return (
    <>
      <p>{sites.metaText(`https://${challenges.domain}/`)}</p>
      <Copied label={sites.metaTag} text={meta} />
    </>
  );
}

function Copied({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <>
      <h3>{label}</h3>
      <Copyable text={text} label={label} />
    </>
  );
}
