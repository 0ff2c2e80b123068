import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { allPages, answerOf, dataOf } from '../../api/client.js';
import type { ApiKey, NewApiKey } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Badge } from '../../ui/badge.js';
import { Breakable } from '../../ui/breakable.js';
import { Button } from '../../ui/button.js';
import { Copyable } from '../../ui/copy.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectInput, TextInput } from '../../ui/fields.js';
import { Loaded } from '../../ui/loaded.js';
import { Notice } from '../../ui/notice.js';
import { Empty, Page, Section } from '../../ui/page.js';
import { RowMenu } from '../../ui/row-menu.js';
import { Table } from '../../ui/table.js';
import { Ago, Time } from '../../ui/time.js';
import { useAction } from '../../ui/use-action.js';
import { useSiteId } from '../sites/use-site.js';
import { Conflicts } from './conflicts.js';
import { Integration } from './integration.js';
import { keyForPages, keyStateOf } from './key-facts.js';
import { KeyText } from './key-text.js';

const STATE_BADGES = {
  revoked: 'bad',
  expired: 'neutral',
  unused: 'neutral',
  idle: 'warning',
  active: 'good',
} as const;

const GRACES = { none: 0, day: 86_400, week: 604_800, month: 2_592_000 } as const;

/** The API keys of a site, and the code that uses them. */
export function Keys() {
  const { keys, common } = useMessages();
  const api = useApi();
  const siteId = useSiteId();
  const mayChange = useMay('changeSites');
  const [shown, setShown] = useState<NewApiKey | null>(null);
  const [latest, setLatest] = useState<NewApiKey | null>(null);
  const isShownOnce = shown !== null && shown.restriction !== 'publishable';
  const path = { site_id: siteId };
  const query = useQuery({
    queryKey: ['keys', siteId],
    queryFn: () =>
      allPages((cursor) =>
        answerOf(api.GET('/api/v1/sites/{site_id}/api-keys', { params: { path, query: { limit: 100, cursor } } })),
      ),
  });
  const show = (key: NewApiKey) => {
    setShown(key);
    setLatest(key);
  };
  const add = mayChange ? <AddKey siteId={siteId} onCreated={show} /> : null;
  return (
    <Page title={keys.title} lead={keys.lead}>
      <Section title={keys.list} actions={(query.data?.length ?? 0) === 0 ? null : add}>
        <Loaded query={query}>
          {(items) =>
            items.length === 0 ? (
              <Empty title={keys.emptyTitle}>
                <p>{mayChange ? keys.emptyText : keys.emptyReader}</p>
                {add}
              </Empty>
            ) : (
              <>
                {items.some(isTestInUse) && (
                  <Notice kind="info">
                    <p>{keys.testText}</p>
                  </Notice>
                )}
                {items.map(({ id, name, prefix, revoked_at, live_host }) =>
                  live_host === null || revoked_at !== null ? null : (
                    <Notice key={id} kind="problem">
                      <p>{keys.testOnLiveHost(name || prefix, live_host)}</p>
                    </Notice>
                  ),
                )}
                <KeyTable items={items} siteId={siteId} onRotated={show} />
              </>
            )
          }
        </Loaded>
      </Section>
      <Conflicts siteId={siteId} keys={query.data ?? []} />
      <Integration
        pageKey={keyForPages(query.data ?? [], latest?.id ?? null)}
        secretKey={latest?.restriction === 'secret' ? latest.key : null}
      />
      <Dialog title={keys.newKey} isOpen={shown !== null} onClose={() => setShown(null)} isShownOnce={isShownOnce}>
        {isShownOnce ? (
          <Notice kind="warning">
            <p>{common.shownOnce}</p>
          </Notice>
        ) : (
          <p>{keys.shownAgain}</p>
        )}
        <Copyable text={shown?.key ?? ''} label={keys.newKey} />
        <Button look="primary" onPress={() => setShown(null)}>
          {isShownOnce ? keys.done : common.close}
        </Button>
      </Dialog>
    </Page>
  );
}

function isTestInUse({ mode, revoked_at }: ApiKey): boolean {
  return mode === 'test' && revoked_at === null;
}

interface KeyTableProps {
  readonly items: readonly ApiKey[];
  readonly siteId: string;
  readonly onRotated: (key: NewApiKey) => void;
}

function KeyTable({ items, siteId, onRotated }: KeyTableProps) {
  const { keys, common } = useMessages();
  const mayChange = useMay('changeSites');
  return (
    <Table
      label={keys.list}
      items={items}
      keyOf={({ id }) => id}
      columns={[
        { label: common.name, cell: ({ name, prefix }) => <Breakable text={name || prefix} /> },
        { label: keys.key, cell: (key) => <KeyText value={key} /> },
        { label: keys.usedIn, cell: ({ restriction }) => keys.places[restriction ?? 'both'] },
        { label: keys.scope, cell: ({ scope }) => keys.scopes[scope] },
        {
          label: keys.mode,
          cell: ({ mode }) => (mode === 'test' ? <Badge kind="warning">{keys.modes.test}</Badge> : keys.modes.live),
        },
        {
          label: keys.lastUsed,
          phone: 'labelled',
          cell: (key) => <LastUse value={key} />,
        },
        { label: common.state, phone: 'top', cell: (key) => <KeyState value={key} /> },
        ...(mayChange
          ? [
              {
                label: common.actions,
                cell: (key: ApiKey) => <KeyActions value={key} siteId={siteId} onRotated={onRotated} />,
              },
            ]
          : []),
      ]}
    />
  );
}

function LastUse({ value }: { readonly value: ApiKey }) {
  const { common } = useMessages();
  if (value.last_used_at !== null) return <Ago at={value.last_used_at} />;
  // The state says it already.
  return keyStateOf(value, Date.now()) === 'unused' ? null : common.never;
}

function KeyState({ value }: { readonly value: ApiKey }) {
  const { keys } = useMessages();
  const state = keyStateOf(value, Date.now());
  if (state !== 'replaced') return <Badge kind={STATE_BADGES[state]}>{keys.states[state]}</Badge>;
  return (
    <span className="actions">
      <Badge kind="warning">{keys.replaced}</Badge>
      <span className="hint">
        {keys.until} {value.expires_at !== null && <Time at={value.expires_at} />}
      </span>
    </span>
  );
}

interface KeyActionsProps extends Pick<KeyTableProps, 'siteId' | 'onRotated'> {
  readonly value: ApiKey;
}

function KeyActions({ value, siteId, onRotated }: KeyActionsProps) {
  const { keys } = useMessages();
  const api = useApi();
  const params = { path: { site_id: siteId, key_id: value.id } };
  const rotate = useAction((grace_seconds: number) =>
    dataOf(api.POST('/api/v1/sites/{site_id}/api-keys/{key_id}/rotate', { params, body: { grace_seconds } })),
  );
  const revoke = useAction(() => dataOf(api.POST('/api/v1/sites/{site_id}/api-keys/{key_id}/revoke', { params })));
  if (value.revoked_at !== null) return null;
  return (
    <RowMenu
      about={value.name || value.prefix}
      actions={[
        ...(value.replaced_by === null
          ? [
              {
                label: keys.rotate,
                content: (
                  <>
                    <p>{keys.rotateText}</p>
                    <SelectInput
                      name="grace_seconds"
                      label={keys.grace}
                      defaultValue={String(GRACES.day)}
                      options={Object.entries(GRACES).map(([name, seconds]) => ({
                        value: String(seconds),
                        label: keys.graces[name as keyof typeof GRACES],
                      }))}
                    />
                  </>
                ),
                action: async (values: Values) => onRotated(await rotate(Number(values.text('grace_seconds')))),
              },
            ]
          : []),
        {
          label: keys.revoke,
          isDanger: true,
          content: <p>{keys.revokeText}</p>,
          action: () => revoke(undefined),
        },
      ]}
    />
  );
}

interface AddKeyProps {
  readonly siteId: string;
  readonly onCreated: (key: NewApiKey) => void;
}

function AddKey({ siteId, onCreated }: AddKeyProps) {
  const { keys } = useMessages();
  const api = useApi();
  const [isOpen, setOpen] = useState(false);
  const create = useAction((values: Values) => {
    const restriction = values.text('restriction') === 'secret' ? 'secret' : 'publishable';
    const scope = values.text('scope') === 'read' ? 'read' : 'write';
    const mode = values.text('mode') === 'test' ? 'test' : 'live';
    return dataOf(
      api.POST('/api/v1/sites/{site_id}/api-keys', {
        params: { path: { site_id: siteId } },
        body: { name: values.text('name'), scope, restriction, mode },
      }),
    );
  });
  return (
    <>
      <Button look="primary" onPress={() => setOpen(true)}>
        {keys.add}
      </Button>
      <Dialog title={keys.add} isOpen={isOpen} onClose={() => setOpen(false)}>
        <ActionForm
          submit={keys.add}
          onCancel={() => setOpen(false)}
          action={async (values) => {
            onCreated(await create(values));
            setOpen(false);
          }}
        >
          <TextInput name="name" label={keys.name} hint={keys.nameHint} isRequired />
          <SelectInput
            name="restriction"
            label={keys.kind}
            options={(['publishable', 'secret'] as const).map((value) => ({ value, label: keys.kinds[value] }))}
          />
          <SelectInput
            name="scope"
            label={keys.scope}
            options={(['write', 'read'] as const).map((value) => ({ value, label: keys.scopes[value] }))}
          />
          <SelectInput
            name="mode"
            label={keys.mode}
            hint={keys.testText}
            options={(['live', 'test'] as const).map((value) => ({ value, label: keys.modes[value] }))}
          />
        </ActionForm>
      </Dialog>
    </>
  );
}
