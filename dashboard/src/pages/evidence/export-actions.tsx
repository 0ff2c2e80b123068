import { useState } from 'react';
import { answerOf, dataOf } from '../../api/client.js';
import type { EvidenceExport } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { Confirm } from '../../ui/confirm.js';
import { useFailureText } from '../../ui/failure-text.js';
import { type RowAction, RowMenu } from '../../ui/row-menu.js';
import { saveAs } from '../../ui/save-as.js';
import { useAction } from '../../ui/use-action.js';
import { ExportDetails } from './export-details.js';
import { openVerifier } from './open-verifier.js';

interface ExportActionsProps {
  readonly siteId: string;
  readonly item: EvidenceExport;
}

/** Actions that the state of an export permits. */
export function ExportActions({ siteId, item }: ExportActionsProps) {
  const { evidence } = useMessages();
  const { dateTime } = useFormats();
  const api = useApi();
  const params = { path: { site_id: siteId, export_id: item.id } };
  const cancel = useAction(() => dataOf(api.POST('/api/v1/sites/{site_id}/exports/{export_id}/cancel', { params })));
  const remove = useAction(() => answerOf(api.DELETE('/api/v1/sites/{site_id}/exports/{export_id}', { params })));
  if (item.state === 'queued' || item.state === 'running') {
    return (
      <Confirm label={evidence.cancel} action={() => cancel(undefined)}>
        <p>{evidence.cancelText}</p>
      </Confirm>
    );
  }
  const about = dateTime(item.requested_at);
  const removal: RowAction = {
    label: evidence.remove,
    isDanger: true,
    content: <p>{evidence.removeText}</p>,
    action: () => remove(undefined),
  };
  if (item.state !== 'finished') return <RowMenu about={about} actions={[removal]} />;
  return <PackageActions siteId={siteId} item={item} about={about} removal={removal} />;
}

interface PackageActionsProps extends ExportActionsProps {
  readonly about: string;
  readonly removal: RowAction;
}

function PackageActions({ siteId, item, about, removal }: PackageActionsProps) {
  const { evidence, common } = useMessages();
  const api = useApi();
  const failureText = useFailureText();
  const [told, setTold] = useState('');
  const [isDetailed, setDetailed] = useState(false);
  const name = `evidence-${item.id}.zip`;
  const read = () =>
    answerOf<Blob>(
      api.GET('/api/v1/sites/{site_id}/exports/{export_id}/package', {
        params: { path: { site_id: siteId, export_id: item.id } },
        parseAs: 'blob',
      }),
    );
  const tell = async (work: () => Promise<string>) => {
    setTold(common.loading);
    setTold(await work().catch(failureText));
  };
  const download = async () => {
    saveAs(name, await read());
    return '';
  };
  const check = () => {
    // Before the package is read, because browsers only open windows immediately after a click.
    const verifier = openVerifier();
    return tell(async () => {
      if (verifier === null) return evidence.checkBlocked;
      await verifier.check(new File([await read()], name, { type: 'application/zip' }));
      return evidence.checkStarted;
    });
  };
  return (
    <div className="actions">
      <Button onPress={() => tell(download)}>{common.download}</Button>
      <RowMenu
        about={about}
        actions={[
          { label: evidence.check, onPress: () => void check() },
          { label: evidence.details, onPress: () => setDetailed(true) },
          removal,
        ]}
      />
      <span role="status" className="hint">
        {told}
      </span>
      <ExportDetails siteId={siteId} item={item} isOpen={isDetailed} onClose={() => setDetailed(false)} />
    </div>
  );
}
