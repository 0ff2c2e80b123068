import { useState } from 'react';
import type { ConfigurationDraft, ScanResult } from '../../api/types.js';
import { useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Notice } from '../../ui/notice.js';
import { Table } from '../../ui/table.js';
import { CookieForm } from './cookie-form.js';
import { adoptedCookie, declaredIn, type FoundName, foundNames, isAdoptable } from './found-names.js';

interface ScanResultProps {
  readonly siteId: string;
  readonly domain: string;
  readonly draft: ConfigurationDraft;
  readonly scan: ScanResult;
}

/** Findings of a scan. Undeclared names can be added to the draft from here. */
export function ScanResultView({ siteId, domain, draft, scan }: ScanResultProps) {
  const { scans } = useMessages();
  const { number } = useFormats();
  const [adopted, setAdopted] = useState<FoundName | null>(null);
  const names = foundNames(scan);
  const hosts = [...new Set(scan.visits.flatMap(({ third_party_hosts }) => third_party_hosts))];
  const close = () => setAdopted(null);
  return (
    <>
      <h3>{scans.result}</h3>
      <Notice kind={names.length === 0 ? 'good' : 'warning'} isAnnounced>
        <p>{names.length === 0 ? scans.nothing : scans.found(number(names.length))}</p>
        {scan.event_id === null ? null : <p>{scans.recorded}</p>}
      </Notice>
      <Limits scan={scan} />
      {names.length === 0 ? null : <FoundTable draft={draft} names={names} onAdopt={setAdopted} />}
      <h3>{scans.thirdParties}</h3>
      {hosts.length === 0 ? (
        <p>{scans.noThirdParties}</p>
      ) : (
        <ul>
          {hosts.map((host) => (
            <li key={host}>
              <code>{host}</code>
            </li>
          ))}
        </ul>
      )}
      <Dialog title={scans.adoptTitle} isOpen={adopted !== null} onClose={close} staysOpen>
        {adopted === null ? null : (
          <CookieForm
            siteId={siteId}
            draft={draft}
            cookie={null}
            found={adoptedCookie(scan, adopted, domain)}
            onClose={close}
          />
        )}
      </Dialog>
    </>
  );
}

/** Lists the limits of the scan. */
function Limits({ scan: { method, signal, visits } }: Pick<ScanResultProps, 'scan'>) {
  const { scans } = useMessages();
  const limits = [
    ...(signal ? [scans.withSignal] : []),
    ...(method === 'http' ? [scans.byHttp] : []),
    ...(visits.length === 1 ? [scans.oneVisit] : []),
    ...(visits.every(({ is_complete }) => is_complete) ? [] : [scans.incomplete]),
  ];
  if (limits.length === 0) return null;
  return (
    <Notice kind="info">
      {limits.map((limit) => (
        <p key={limit}>{limit}</p>
      ))}
    </Notice>
  );
}

interface FoundTableProps {
  readonly draft: ConfigurationDraft;
  readonly names: readonly FoundName[];
  readonly onAdopt: (found: FoundName) => void;
}

function FoundTable({ draft, names, onAdopt }: FoundTableProps) {
  const { scans, common } = useMessages();
  const mayAdopt = useMay('changeSites') && draft.categories.length > 0;
  const language = draft.default_language ?? draft.languages[0] ?? 'en';
  const next = (found: FoundName) => {
    const declared = declaredIn(draft, found.name);
    if (declared !== null) {
      const category = draft.categories.find(({ key }) => key === declared.category);
      return <Badge kind="good">{scans.inDraft(category?.title[language] ?? declared.category)}</Badge>;
    }
    if (!mayAdopt) return null;
    return isAdoptable(found) ? (
      <Button onPress={() => onAdopt(found)} aria-label={`${scans.adopt}: ${found.name}`}>
        {scans.adopt}
      </Button>
    ) : (
      scans.notAdoptable
    );
  };
  return (
    <>
      {draft.categories.length === 0 ? <p>{scans.adoptNeedsCategory}</p> : null}
      <Table
        label={scans.findings}
        items={names}
        keyOf={({ kind, name, domain }) => JSON.stringify([kind, name, domain])}
        columns={[
          { label: common.name, cell: ({ name }) => <code>{name}</code> },
          { label: scans.kind, cell: ({ kind }) => scans.kinds[kind] },
          { label: scans.host, cell: ({ domain }) => (domain === null ? null : <code>{domain}</code>) },
          {
            label: scans.problem,
            cell: ({ problems }) => problems.map((problem) => scans.problems[problem]).join(', '),
          },
          { label: common.actions, cell: next },
        ]}
      />
    </>
  );
}
