/**
 * Files, batches and fine-tuning jobs of one mesh.
 * @module
 */
import { Files } from "./files.ts";
import type { InfrastructureMesh } from "./mesh.ts";

/** What a mesh keeps at its providers. */
export class InfrastructureServices {
  readonly files: Files;

  constructor(mesh: InfrastructureMesh) {
    this.files = new Files(mesh);
  }
}
