{{/* The name of everything that the chart installs. */}}
{{- define "operator.name" -}}
{{- .Values.fullnameOverride -}}
{{- end }}

{{/* The name of a cluster-scoped object, unique for each installation. */}}
{{- define "operator.clusterName" -}}
{{- if eq .Values.fullnameOverride .Chart.Name -}}
{{- .Values.fullnameOverride -}}
{{- else -}}
{{- printf "%s-%s" .Release.Namespace .Values.fullnameOverride -}}
{{- end -}}
{{- end }}

{{- define "operator.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ include "operator.name" . }}
{{- end }}

{{- define "operator.labels" -}}
{{ include "operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: {{ .Chart.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "operator.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end }}

{{- define "operator.clientImage" -}}
{{- .Values.clientImage | default (include "operator.image" .) -}}
{{- end }}

{{/* The operator's rules, which controller-gen derives from the code. */}}
{{- define "operator.rules" -}}
{{- $role := .Files.Get "generated/role.yaml" | fromYaml -}}
{{- required "generated/role.yaml has no rules: run `make manifests`" $role.rules | toYaml -}}
{{- end }}

{{/* What the restricted Pod Security Standard requires of a container. */}}
{{- define "operator.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* No runAsUser: the image names its own user, and OpenShift assigns one. */}}
{{- define "operator.podSecurityContext" -}}
runAsNonRoot: true
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* Scheduling of the chart's pods. */}}
{{- define "operator.placement" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.topologySpreadConstraints }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
