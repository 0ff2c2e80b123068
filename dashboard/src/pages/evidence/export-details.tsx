import { useQuery } from '@tanstack/react-query';
import { dataOf } from '../../api/client.js';
import type { EvidenceExport } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { Copyable } from '../../ui/copy.js';
import { Dialog } from '../../ui/dialog.js';
import { Loaded } from '../../ui/loaded.js';

interface ExportDetailsProps {
  readonly siteId: string;
  readonly item: EvidenceExport;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** The digest of a package, and the proof of the visitor that the package is about. */
export function ExportDetails({ siteId, item, isOpen, onClose }: ExportDetailsProps) {
  const { evidence } = useMessages();
  return (
    <Dialog title={evidence.details} isOpen={isOpen} onClose={onClose}>
      <Digest item={item} />
      {item.filter.by_visitor ? <VisitorProof siteId={siteId} exportId={item.id} /> : null}
      <Close onClose={onClose} />
    </Dialog>
  );
}

function Digest({ item }: Pick<ExportDetailsProps, 'item'>) {
  const { evidence } = useMessages();
  return (
    <>
      <h3>{evidence.digest}</h3>
      <Copyable text={item.package?.sha256 ?? ''} label={evidence.digest} />
    </>
  );
}

interface VisitorProofProps {
  readonly siteId: string;
  readonly exportId: string;
}

function VisitorProof({ siteId, exportId }: VisitorProofProps) {
  const { evidence } = useMessages();
  const api = useApi();
  const query = useQuery({
    queryKey: ['export', exportId],
    queryFn: () =>
      dataOf(
        api.GET('/api/v1/sites/{site_id}/exports/{export_id}', {
          params: { path: { site_id: siteId, export_id: exportId } },
        }),
      ),
  });
  return (
    <>
      <h3>{evidence.filterProof}</h3>
      <p>{evidence.filterProofText}</p>
      <Loaded query={query}>
        {({ filter_disclosures }) => <Copyable text={filter_disclosures.join('\n')} label={evidence.filterProof} />}
      </Loaded>
    </>
  );
}

function Close({ onClose }: { readonly onClose: () => void }) {
  const { common } = useMessages();
  return (
    <div className="actions">
      <Button onPress={onClose}>{common.close}</Button>
    </div>
  );
}
