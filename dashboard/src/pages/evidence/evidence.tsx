import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { EvidenceExport } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Badge } from '../../ui/badge.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Empty, Page, Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { usePages } from '../../ui/use-pages.js';
import { useSiteId } from '../sites/use-site.js';
import { ExportActions } from './export-actions.js';
import { MakeExport } from './make-export.js';

const LOOKS = {
  queued: 'neutral',
  running: 'neutral',
  finished: 'good',
  cancelled: 'neutral',
  failed: 'bad',
  expired: 'neutral',
} as const;

/** The evidence packages of a site. */
export function Evidence() {
  const { evidence, common, consents } = useMessages();
  const api = useApi();
  const siteId = useSiteId();
  const mayExport = useMay('export');
  const query = usePages(
    ['exports', siteId],
    (cursor) =>
      api.GET('/api/v1/sites/{site_id}/exports', {
        params: { path: { site_id: siteId }, query: { limit: 25, cursor } },
      }),
    (items) => (items.some(({ state }) => state === 'queued' || state === 'running') ? 1000 : false),
  );
  const add = mayExport ? <MakeExport siteId={siteId} /> : null;
  return (
    <Page title={evidence.title} lead={evidence.lead}>
      <p className="draft-line">
        {evidence.single} <a href="/verify">{consents.verifierPage}</a> ·{' '}
        <Link to="/timestamps">{evidence.regulator}</Link>
      </p>
      <Section title={evidence.list} actions={(query.data?.length ?? 0) === 0 ? null : add}>
        <Loaded query={query}>
          {(items) =>
            items.length === 0 ? (
              <Empty title={evidence.emptyTitle}>
                <p>{evidence.emptyText}</p>
                {add}
              </Empty>
            ) : (
              <Table
                label={evidence.list}
                items={items}
                keyOf={({ id }) => id}
                columns={[
                  { label: evidence.requested, cell: ({ requested_at }) => <Time at={requested_at} /> },
                  { label: evidence.content, cell: (item) => <Content item={item} /> },
                  { label: common.state, phone: 'top', cell: (item) => <State item={item} /> },
                  { label: common.actions, cell: (item) => <ExportActions siteId={siteId} item={item} /> },
                ]}
              />
            )
          }
        </Loaded>
        <More query={query} />
        <Ended items={query.data} />
      </Section>
    </Page>
  );
}

/** Says to screen readers that an export has ended, for which the user waits. */
function Ended({ items = [] }: { readonly items: readonly EvidenceExport[] | undefined }) {
  const { evidence } = useMessages();
  const waited = useRef<ReadonlySet<string>>(new Set());
  const [told, setTold] = useState('');
  useEffect(() => {
    const ended = items.filter(({ id, ended_at }) => ended_at !== null && waited.current.has(id));
    waited.current = new Set(items.filter(({ ended_at }) => ended_at === null).map(({ id }) => id));
    if (ended.length > 0) setTold(ended.map(({ state }) => evidence.ended(evidence.states[state])).join(' '));
  }, [items, evidence]);
  return (
    <p role="status" className="for-readers">
      {told}
    </p>
  );
}

function Content({ item }: { readonly item: EvidenceExport }) {
  const { evidence } = useMessages();
  const { date } = useFormats();
  const { filter } = item;
  const parts = [
    filter.by_visitor ? evidence.oneVisitor : evidence.allRecords,
    filter.consent_type,
    filter.from === null ? null : `≥ ${date(filter.from)}`,
    filter.to === null ? null : `< ${date(filter.to)}`,
    item.disclose === 'none' ? evidence.withoutPersonal : evidence.withPersonal,
  ];
  return parts.filter((part) => part !== null).join(', ');
}

function State({ item }: { readonly item: EvidenceExport }) {
  const { evidence } = useMessages();
  const { number, bytes, dateTime } = useFormats();
  const { progress, package: made, state } = item;
  return (
    <div className="stack-tight">
      <Badge kind={LOOKS[state]}>{evidence.states[state]}</Badge>
      {item.reason === null || state === 'finished' ? null : (
        <span className="hint">{evidence.reasons[item.reason]}</span>
      )}
      {progress === null ? null : (
        <>
          <span className="hint">
            {evidence.steps[progress.step]}
            {progress.total === null ? '' : `: ${evidence.progress(number(progress.done), number(progress.total))}`}
          </span>
          <progress
            aria-label={evidence.states.running}
            max={progress.total ?? undefined}
            value={progress.total === null ? undefined : progress.done}
          />
        </>
      )}
      {made === null ? null : (
        <span className="hint">{evidence.counts(number(made.counts.consents), bytes(made.bytes))}</span>
      )}
      {made === null || made.counts.not_yet_stamped === 0 ? null : (
        <span className="hint">{evidence.notYet(number(made.counts.not_yet_stamped))}</span>
      )}
      {state === 'finished' && item.expires_at !== null ? (
        <span className="hint">{evidence.until(dateTime(item.expires_at))}</span>
      ) : null}
    </div>
  );
}
