import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { ConfigurationDraft, ScanResult } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Checkbox, TextInput } from '../../ui/fields.js';
import { Loaded } from '../../ui/loaded.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { useAction } from '../../ui/use-action.js';
import { useSite } from '../sites/use-site.js';
import { RecordedScans } from './recorded-scans.js';
import { ScanResultView } from './scan-result.js';

interface ScanSectionProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
}

/** Scans a page of the site, and lets the user adopt what was found into the draft. */
export function ScanSection({ siteId, draft }: ScanSectionProps) {
  const { scans } = useMessages();
  const mayScan = useMay('changeSites');
  const site = useSite(siteId);
  const [result, setResult] = useState<ScanResult | null>(null);
  return (
    <Section title={scans.title} lead={scans.lead}>
      <Loaded query={site}>
        {({ domain, verified_at }) =>
          verified_at === null ? (
            <p>{scans.needsDomain}</p>
          ) : (
            <>
              {mayScan ? <ScanForm siteId={siteId} domain={domain} onResult={setResult} /> : null}
              {result === null ? null : (
                <ScanResultView key={result.id} siteId={siteId} domain={domain} draft={draft} scan={result} />
              )}
            </>
          )
        }
      </Loaded>
      <RecordedScans siteId={siteId} />
    </Section>
  );
}

interface ScanFormProps {
  readonly siteId: string;
  readonly domain: string;
  readonly onResult: (result: ScanResult | null) => void;
}

function ScanForm({ siteId, domain, onResult }: ScanFormProps) {
  const { scans } = useMessages();
  const api = useApi();
  const [isRunning, setRunning] = useState(false);
  const scan = useAction((values: Values) =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/scans', {
        params: { path: { site_id: siteId } },
        body: {
          url: values.text('url').trim(),
          record: values.isTicked('record'),
          signal: values.isTicked('signal'),
        },
      }),
    ),
  );
  return (
    <>
      <ActionForm
        submit={scans.start}
        action={async (values) => {
          onResult(null);
          setRunning(true);
          try {
            onResult(await scan(values));
          } finally {
            setRunning(false);
          }
        }}
      >
        <TextInput name="url" label={scans.url} defaultValue={`https://${domain}/`} isRequired isCode />
        <Checkbox name="signal">{scans.signal}</Checkbox>
        <Checkbox name="record">{scans.record}</Checkbox>
        <p className="hint">{scans.recordHint}</p>
      </ActionForm>
      {isRunning ? (
        <Notice kind="info" isAnnounced takesFocus={false}>
          <p>{scans.running}</p>
        </Notice>
      ) : null}
    </>
  );
}
