import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { dataOf } from '../../api/client.js';
import type { PersonReference } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { Confirm } from '../../ui/confirm.js';
import { Notice } from '../../ui/notice.js';
import { useAction } from '../../ui/use-action.js';
import { ReasonInput, useKeepReason } from './reason.js';
import { useForgetSearches } from './searched-person.js';

interface EraseProps {
  readonly siteId: string;
  readonly subject: PersonReference | { readonly by: 'record'; readonly value: string };
  /** Names the subject, and says how many records the erasure concerns. */
  readonly children: ReactNode;
}

/** Erases the personal values of a person or a record, and opens the receipt. */
export function Erase({ siteId, subject, children }: EraseProps) {
  const { consents } = useMessages();
  const api = useApi();
  const navigate = useNavigate();
  const mayErase = useMay('erase');
  const forget = useForgetSearches();
  const erase = useAction(() =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/erasures', {
        params: { path: { site_id: siteId } },
        body: { subject },
      }),
    ),
  );
  if (!mayErase) return null;
  const isRecord = subject.by === 'record';
  return (
    <Confirm
      label={isRecord ? consents.eraseRecord : consents.erasePerson}
      look="danger"
      action={async () => {
        const { id } = await erase(undefined);
        forget();
        await navigate({ to: '/sites/$siteId/erasures/$erasureId', params: { siteId, erasureId: id } });
      }}
    >
      <Notice kind="warning">
        <p>{children}</p>
        <p>{isRecord ? consents.eraseRecordText : consents.erasePersonText}</p>
      </Notice>
    </Confirm>
  );
}

interface ExportProps {
  readonly siteId: string;
  /** The records of a person, named by the visitor id or by the ids of the records. */
  readonly filter: { readonly visitor_id: string } | { readonly records: string[] };
  /** The person, as the reason names them. */
  readonly about: string;
}

/** Starts an export of everything about a person, and opens the list of exports. */
export function ExportPerson({ siteId, filter, about }: ExportProps) {
  const { consents } = useMessages();
  const api = useApi();
  const navigate = useNavigate();
  const mayExport = useMay('export');
  const keepReason = useKeepReason();
  const start = useAction((reason: string) =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/exports', {
        params: { path: { site_id: siteId } },
        body: { filter, disclose: 'all', reason },
      }),
    ),
  );
  if (!mayExport) return null;
  return (
    <Confirm
      label={consents.exportPerson}
      isDanger={false}
      action={async (values) => {
        const reason = values.text('reason');
        await start(reason);
        keepReason(reason, about);
        await navigate({ to: '/sites/$siteId/evidence', params: { siteId } });
      }}
    >
      <p>{consents.exportPersonText}</p>
      <ReasonInput about={about} />
    </Confirm>
  );
}
