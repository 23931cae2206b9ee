{{- define "modelmesh.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "modelmesh.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := include "modelmesh.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "modelmesh.selectorLabels" -}}
app.kubernetes.io/name: {{ include "modelmesh.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "modelmesh.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "modelmesh.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "modelmesh.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "modelmesh.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* The document modelmesh.yaml: config, and what the chart itself decides. */}}
{{- define "modelmesh.document" -}}
{{- $document := deepCopy .Values.config }}
{{- $proxy := deepCopy (default dict $document.proxy) }}
{{- if hasKey $proxy "drain_delay" }}
{{- fail "config.proxy.drain_delay is decided by drainDelaySeconds, which the grace period of the pods follows" }}
{{- end }}
{{- $_ := set $proxy "drain_delay" (printf "%ds" (int .Values.drainDelaySeconds)) }}
{{- if .Values.tls.existingSecret }}
{{- $_ := set $proxy "tls" (dict "cert" "/etc/modelmesh/tls/tls.crt" "key" "/etc/modelmesh/tls/tls.key") }}
{{- end }}
{{- $_ := set $document "proxy" $proxy }}
{{- with .Values.storage }}
{{- if ne .engine "none" }}
{{- if hasKey $document "storage" }}
{{- fail "config.storage is decided by storage.engine: use storage.config for further attributes" }}
{{- end }}
{{- $storage := deepCopy .config }}
{{- $_ := set $storage "connector" (ternary "redis.redis.v1" "mesh.postgres.v1" (eq .engine "redis")) }}
{{- if and .url .urlVariable }}
{{- fail "storage.url and storage.urlVariable exclude each other" }}
{{- else if .urlVariable }}
{{- $_ := set $storage "url" (printf "${secrets:%s}" .urlVariable) }}
{{- else if .url }}
{{- $_ := set $storage "url" .url }}
{{- else if empty .config }}
{{- fail "storage.engine needs storage.url, storage.urlVariable or storage.config" }}
{{- end }}
{{- $_ := set $document "storage" $storage }}
{{- end }}
{{- end }}
{{- toYaml $document }}
{{- end }}

{{- define "modelmesh.scheme" -}}
scheme: {{ ternary "HTTPS" "HTTP" (not (empty .Values.tls.existingSecret)) }}
{{- end }}
